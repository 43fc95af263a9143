"""The app in process, always started at app.py."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core.model.downloading import hub
from core.ui.site import visitor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

APP = Path(__file__).parents[2] / "app.py"


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
    """Say where the visitor sits; without, at this machine. Nothing is set by an operator."""
    for name in ("MODELS", "FOLDERS", "HUB_TOKEN", "DOWNLOAD_MB"):
        for prefix in ("HEADSCOPE_", "ATTENTION_ATLAS_"):
            monkeypatch.delenv(prefix + name, raising=False)

    def come(ip: str, **headers: str) -> None:
        sent = tuple({"Host": "localhost:8501", **headers}.items())
        monkeypatch.setattr(visitor, "connection", lambda: visitor.Connection(ip, sent))

    come("127.0.0.1")
    return come


@pytest.fixture
def open_app() -> Callable[..., AppTest]:
    """Open a page with link parameters, as a visitor who follows a link."""

    def start(page: str = "home", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=120)
        app.switch_page(f"pages/{page}.py")
        for key, value in parameters.items():
            app.query_params[key] = value
        return app.run()

    return start


def alerts(app: AppTest) -> str:
    """Everything said in boxes, in one string."""
    boxes = [*app.error, *app.warning, *app.info]
    return "\n".join(str(box.value) for box in boxes)
