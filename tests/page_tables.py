"""The tables made from the pages: the README's of pages and methods, and of all link parameters.

    python -m tests.page_tables

writes the tables of ``README.md``, and ``.github/LINKS.md``; tests say when one is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from unittest import mock

from core.screens.heads import effect
from core.ui.controls import SHARED, Control
from core.ui.serve import visitor
from core.ui.words.pages import PAGES
from tests.opening import ROOT, open_app, prepared_site, visits

Rows = dict[str, dict[str, str]]  # by page, what each parameter may be

README, LINKS = ROOT / "README.md", ROOT / ".github" / "LINKS.md"
_TABLE = re.compile(r"\| page \| question \|\n(?:\|.*\n)+")
_TRUST = re.compile(r"\| method \| area under ROC \|.*\n(?:\|.*\n)+")
_HEAD = """# What a link can hold

The address bar always holds the state that is on the screen; "Share" copies it.
An impossible value is reported and replaced; a control that is not on the screen is not in the
link. Numbers of layers, heads and positions of tokens begin at 1. Beside these, `packed` carries a
text that would make the address longer than 7,500 bytes. With an encoder-decoder, `attention` is
`encoder`, `decoder` or `cross`, and `decoder` is what its decoder reads (empty: the model's own
answer). A translator whose tokenizer has languages also has `from_language` and `to_language`, by
their codes (`eng_Latn`). In cross attention, positions of queries (`from`, `query`) count the
decoder's tokens, those of keys (`to`, `key_token`) the text's. Links to `/patch_space` and
`/class_attention` open `/query_key` and `/images`. Made from the controls that the pages declare,
with the embedded models, the first sentence and the first image, by `python -m tests.page_tables`.
"""
_MAX_NAMED = 11  # options; of more, the first two and the last


def with_pages(readme: str) -> str:
    """The README with its table of pages as the records have them, and its table of methods."""
    rows = ["| page | question |", "|---|---|"]
    for page in PAGES:
        addresses = ", once also ".join(f"`/{name}`" for name in (page.name, *page.joined))
        rows.append(f"| {page.in_menu} ({addresses}) | {page.question} |")
    readme = _TABLE.sub("\n".join([*rows, ""]), readme)
    return _TRUST.sub("\n".join([*effect.table_of_methods(), ""]), readme)


def rows_of(declared: Iterable[tuple[str, dict[str, Control]]]) -> Rows:
    """The parameters of every page over all its parts, in the order they are declared."""
    pages: Rows = {"every page": {}}
    for page, controls in declared:
        own = pages.setdefault(page, {})
        for key, control in controls.items():
            rows = pages["every page"] if key in SHARED else own
            rows[key] = max(rows.get(key, ""), _values_of(control), key=len)
    pages["every page"] = dict(sorted(pages["every page"].items()))
    return pages


def to_markdown(pages: Rows) -> str:
    """The page of :data:`LINKS`."""
    parts = [_HEAD]
    for page, rows in pages.items():
        if rows:
            title = "Every page" if page == "every page" else f"`/{page}`"
            lines = (f"| `{key}` | {value} |\n" for key, value in rows.items())
            parts.append(f"## {title}\n\n| parameter | values |\n|---|---|\n{''.join(lines)}")
    return "\n".join(parts)


def _values_of(control: Control) -> str:
    if control.key == "prepared":
        return "the name of an atlas that the site offers"
    if control.kind == "flag":
        return "`1` (usual), `0`" if control.default else "`0` (usual), `1`"
    if control.kind == "number":
        low, high = control.allowed
        return f"a number from {low:g} to {high:g}, usually {control.default:g}"
    if control.kind == "text":
        return "text"
    options = [f"`{option}`" for option in control.allowed if option != ""]
    if len(options) > _MAX_NAMED:
        options = [*options[:2], "…", options[-1]]
    named = ", ".join(options)
    if control.kind == "tokens":
        return f"some of {named}, with commas between"
    return f"{named}; usually `{control.default}`" if control.default else f"none, or {named}"


def main() -> None:
    """Write the files, as for a visitor at this machine."""
    README.write_text(with_pages(README.read_text("utf-8")), "utf-8")
    connection = "127.0.0.1", [("Host", "localhost:8501")]
    with mock.patch.object(visitor, "connection", return_value=connection), prepared_site():
        apps = [(page, open_app(page, **link)) for page, link in visits()]
    declared = [(page, dict(app.session_state["_controls"])) for page, app in apps]
    LINKS.write_text(to_markdown(rows_of(declared)), "utf-8")


if __name__ == "__main__":
    main()
