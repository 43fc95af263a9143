"""The table of all link parameters, made from the controls that pages declare.

    python -m tests.links_table

writes ``.github/LINKS.md``; a test says when it is no longer true.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from streamlit.testing.v1 import AppTest

from core.ui.site import visitor

if TYPE_CHECKING:
    from core.ui.controls import Control

ROOT = Path(__file__).parents[1]
LINKS = ROOT / ".github" / "LINKS.md"
_HEAD = """# What a link can hold

The address bar always holds the state that is on the screen; "Copy link to this view" copies it.
A value that is not possible is told and replaced; a control that is not on the screen is not in the
link. Numbers of layers, heads and positions of tokens begin at 1. Beside these, `packed` carries a
text that would make the address longer than 7,500 bytes. Made from the controls that the pages
declare, with the embedded model and its first sentence, by `python -m tests.links_table`.
"""
_MAX_NAMED = 9  # options; of more, the first two and the last
Rows = dict[str, dict[str, str]]  # what each parameter of a page may be


def rows_of(page: str, start: dict[str, str]) -> dict[str, str]:
    """What each parameter may be, on a page that a link opens."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.switch_page(f"pages/{page}.py")
    for key, value in start.items():
        app.query_params[key] = value
    here = visitor.Connection("127.0.0.1", (("Host", "localhost:8501"),))
    with mock.patch.object(visitor, "connection", return_value=here):
        app.run()
    if app.exception:
        raise RuntimeError(f"{page} {start}: {app.exception[0].value}")
    controls: dict[str, Control] = app.session_state["_controls"]
    return {key: _may_be(control) for key, control in controls.items()}


def gather(screens: list[tuple[str, dict[str, str]]]) -> Rows:
    """The parameters of every page over all its parts, in the order they are declared."""
    found: Rows = {}
    for page, start in screens:
        of_page = found.setdefault(page, {})
        for key, value in rows_of(page, start).items():
            if len(value) > len(of_page.get(key, "")):
                of_page[key] = value
    shared = {*set.intersection(*(set(of_page) for of_page in found.values())), "pair"}
    every = {key: value for of_page in found.values() for key, value in of_page.items()}
    return {
        "every page": {key: every[key] for key in sorted(shared)},
        **{
            page: {key: value for key, value in of_page.items() if key not in shared}
            for page, of_page in found.items()
        },
    }


def written(rows: Rows) -> str:
    """The page, in Markdown."""
    parts = [_HEAD]
    for page, of_page in rows.items():
        if not of_page:
            continue
        title = page if page == "every page" else f"`/{page}`"
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n| parameter | values |\n|---|---|")
        parts[-1] += "".join(f"\n| `{key}` | {value} |" for key, value in of_page.items()) + "\n"
    return "\n".join(parts)


def _may_be(control: Control) -> str:
    if control.kind == "flag":
        return "`1` (usual), `0`" if control.default else "`0` (usual), `1`"
    if control.kind == "number":
        low, high = control.allowed
        return f"a number from {low:g} to {high:g}, usually {control.default:g}"
    if control.kind == "text":
        return "text"
    allowed = [f"`{option}`" for option in control.allowed if option != ""]
    if len(allowed) > _MAX_NAMED:
        allowed = [*allowed[:2], "…", allowed[-1]]
    named = ", ".join(allowed)
    if control.kind == "tokens":
        return f"some of {named}, with commas between"
    return f"{named}; usually `{control.default}`" if control.default else f"none, or {named}"


def main() -> None:
    """Write the file."""
    from tests.pages.test_every_control import SCREENS

    LINKS.write_text(written(gather(SCREENS)), "utf-8")


if __name__ == "__main__":
    main()
