"""A button that shows the picture of a page alone, as large as the window; with the link's code."""

from __future__ import annotations

from core.components.reported_state import reported
from core.components.scripts import register

_present = register("present")


def wants_code(key: str) -> bool:
    """Whether somebody has asked for the code of the link, full screen."""
    return reported(key, "asked") is True


def show_present(code: str, *, key: str) -> None:
    """Draw the button; P presses it, Escape leaves, and Q shows the `code` (of an image) if any.

    The browser does the rest: nothing on the page is drawn anew.
    """
    _present(key=key, data={"code": code}, width="content", on_asked_change=lambda: None)
