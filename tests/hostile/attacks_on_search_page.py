"""A link with an expression that took 0.8 GB, followed by a visitor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest

if TYPE_CHECKING:
    from collections.abc import Iterable

APP = Path(__file__).parents[2] / "app.py"


def prepare() -> None:
    """What a server has before: the model, the atlas of the sample, a search in it."""
    assert not _open(find="she").exception


def link() -> None:
    """The page is there, the expression waits, and its button refuses it in words."""
    app = _open(kind="regex", find="(?R)?e")
    assert not app.exception
    assert "came with the link and was not run" in _said(app.markdown)
    app.button(key="atlas_search").click().run()
    assert not app.exception
    assert "does not support recursion" in _said(app.warning)


def _open(**link: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=100)
    app.switch_page("pages/atlas.py")
    for key, value in {"corpus": "sample", "budget": "1000", **link}.items():
        app.query_params[key] = value
    return app.run()


def _said(elements: Iterable[object]) -> str:
    return "\n".join(str(getattr(element, "value", "")) for element in elements)


ATTACKS = (link,)
