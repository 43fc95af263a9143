"""The controls of pages, each declared once.

A declaration takes the value from the link, reports and replaces an impossible one, draws the
widget if it has a label, and returns the value. State lives in ``st.session_state`` under the
control's key, its name in links. When the page ends, its controls are written to the address.
"""

from core.ui.controls.declared import (
    SHARED,
    Control,
    declared,
    end_page,
    open_link,
    pick,
    publish,
    start,
    suggest,
)
from core.ui.controls.heads import HasHeads, head, layer
from core.ui.controls.values import choice, flag, number, text, tokens

__all__ = [
    "SHARED",
    "Control",
    "HasHeads",
    "choice",
    "declared",
    "end_page",
    "flag",
    "head",
    "layer",
    "number",
    "open_link",
    "pick",
    "publish",
    "start",
    "suggest",
    "text",
    "tokens",
]
