"""What people typed is quoted so that nothing in it takes effect."""

from __future__ import annotations

import pytest

from core.ui.words.messages import escape, quote


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("it", "`it`"),
        ("`", "`` ` ``"),
        ("a``b", "``` a``b ```"),
        ("![](http://a.b/c.png)", "`![](http://a.b/c.png)`"),
        ("$x$ :red[x]", "`$x$ :red[x]`"),
        ("a\n\n# b", "`a # b`"),
        ("", "` `"),
    ],
)
def test_a_quote_is_inline_code_that_ends_where_it_should(text: str, shown: str) -> None:
    assert quote(text) == shown


def test_a_long_quote_is_cut() -> None:
    assert len(quote("x" * 500)) < 70


def test_escaped_text_has_no_bare_markdown_character() -> None:
    assert escape("**a** [b](c) $d$ :red[e]") == (r"\*\*a\*\* \[b\]\(c\) \$d\$ \:red\[e\]")
