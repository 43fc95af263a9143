"""Text that plotly must show as it is: its labels read a small HTML."""

from __future__ import annotations

import html


def literal(text: str) -> str:
    """`text` as plotly shows it letter by letter: no tags, no entities, no TeX.

    >>> literal("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    # A zero-width space after a dollar sign keeps a lone "$x$" from being taken for TeX.
    return html.escape(text, quote=False).replace("$", "$\u200b")
