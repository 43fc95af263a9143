"""Where the embedded model is absent, or is not the published one, every page works without it."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from core.model import catalog
from core.model.catalog import bundled_folder
from core.ui import cache
from core.ui.words.pages import TEXT_PAGES
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts

NAMES = [page.name for page in TEXT_PAGES]
OTHER = "4 layers × 4 heads × 32 dims"


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package that carries the model cannot be found."""
    working = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name.startswith("gt_all") else working(name, *rest),
    )


@pytest.fixture(scope="module")
def tampered_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy whose tokenizer differs by one character."""
    folder = Path(shutil.copytree(bundled_folder(), tmp_path_factory.mktemp("own") / "model"))
    vocabulary = folder / "tokenizer.json"
    vocabulary.write_text(vocabulary.read_text("utf-8").replace("book", "b00k", 1), "utf-8")
    return folder


@pytest.fixture
def tampered(monkeypatch: pytest.MonkeyPatch, tampered_folder: Path) -> None:
    """The package's folder is the tampered one."""
    working = catalog.bundled_folder
    monkeypatch.setattr(
        catalog,
        "bundled_folder",
        lambda spec=catalog.CATALOG[0]: (
            tampered_folder if spec.name == "bundled/minilm" else working(spec)
        ),
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("absent")
def test_a_page_shows_the_other_model_where_the_package_is_absent(name: str) -> None:
    app = open_app(name)
    assert not app.error
    assert "`bundled/minilm` is not installed" in alerts(app)
    assert OTHER in model_facts(app)
    assert app.query_params["model"] == "bundled/gpt2-novels"


@pytest.mark.parametrize("link", [{}, {"model": "bundled/minilm"}], ids=["no link", "link"])
@pytest.mark.usefixtures("tampered")
def test_a_tampered_model_is_refused_and_the_page_shows_the_other(link: dict[str, str]) -> None:
    cache.loaded_model.clear()  # what an earlier test loaded from the true files
    app = open_app("heatmap", **link)
    assert ("a sheet made for" in alerts(app)) == bool(link)
    assert "is not the published one" in alerts(app)
    assert OTHER in model_facts(app)
