"""The app in process, always started at app.py."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import pytest
from streamlit.components.v2 import manifest_scanner

from core.model.downloading import hub
from core.ui.site import visitor
from tests import opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamlit.testing.v1 import AppTest


@pytest.fixture(scope="session", autouse=True)
def _components_are_looked_for_once() -> Iterator[None]:
    """Each AppTest reads the metadata of every installed package, most of the time a page takes."""
    once = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a hub outside this machine: the hub never answers."""
    monkeypatch.setattr(hub, "ASK_SECONDS", 0.2)
    monkeypatch.setattr(hub, "_model_info", lambda _repo, _token: time.sleep(1))


@pytest.fixture(autouse=True)
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say where the visitor sits, by default at this machine. Nothing is set by an operator."""
    for name in ("MODELS", "FOLDERS", "HUB_TOKEN", "DOWNLOAD_MB"):
        for prefix in ("HEADSCOPE_", "ATTENTION_ATLAS_"):
            monkeypatch.delenv(prefix + name, raising=False)

    def connect_from(ip: str, **headers: str) -> None:
        sent = tuple({"Host": "localhost:8501", **headers}.items())
        monkeypatch.setattr(visitor, "connection", lambda: visitor.Connection(ip, sent))

    connect_from("127.0.0.1")
    return connect_from


@pytest.fixture
def open_app() -> Callable[..., AppTest]:
    """:func:`tests.opening.open_app`, with the hub and the visitor of these tests."""
    return opening.open_app


def alerts(app: AppTest) -> str:
    """Everything said in boxes, in one string."""
    boxes = [*app.error, *app.warning, *app.info]
    return "\n".join(str(box.value) for box in boxes)


def said(app: AppTest) -> str:
    """Everything said in running text and captions of the page, with plain spaces."""
    texts = [*app.main.caption, *app.main.markdown]
    return "\n".join(str(text.value) for text in texts).replace("\N{NO-BREAK SPACE}", " ")


def press_example(app: AppTest, page: str, title: str) -> None:
    """Open the expander "Try this" of a page and press the button with that title."""
    app.session_state[f"{page}_presets"] = True
    app.run()
    next(button for button in app.button if button.label == title).click().run()
    assert not app.exception
