"""Text for plotly, whose labels understand a small HTML."""

from __future__ import annotations

import html


def literal(text: str) -> str:
    """`text` so that plotly shows it letter by letter: no tags, no entities, no TeX.

    >>> literal("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    # A zero-width space after each dollar sign keeps "$x$" from being read as TeX.
    return html.escape(text, quote=False).replace("$", "$\u200b")
