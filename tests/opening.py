"""The one way to open the app in process, and links to every page and part of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from core.ui.address import WATCHED
from core.ui.words.pages import PAGES, Page, Part
from core.vocabulary import Modality

Place = tuple[str, dict[str, str]]  # a page, and the parameters of a link to it

ROOT = Path(__file__).parents[1]
_compile = cache(partial(ScriptCache.get_bytecode, ScriptCache()))  # once, as a server does
_look = local_script_runner.require_widgets_deltas


def _wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """Instead of a look at the run every millisecond, which takes a tenth of its time."""
    if runner._script_thread is not None:
        runner._script_thread.join(timeout)
    _look(runner, 1)


local_script_runner.require_widgets_deltas = _wait
ScriptCache.get_bytecode = lambda _, path: _compile(path)  # type: ignore[method-assign, misc, assignment]


def open_app(page: str = "home", **parameters: str) -> AppTest:
    """Open a page as a visitor who follows a link with these parameters."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.switch_page(f"pages/{page}.py")
    app.query_params.update(parameters)
    app.session_state[WATCHED] = True  # by the browser, which is not here
    app.run()
    assert not app.exception, app.exception
    return app


def parts(modality: Modality) -> list[Place]:
    """Every part of every page that shows texts, or images."""
    return [
        (page.name, {page.part_key: name} if name else {})
        for page in PAGES
        for name, part in _parts(page).items()
        if modality in page.modalities and modality in part.modalities
    ]


def visits(modality: Modality | None = None) -> list[Place]:
    """Links that together show every control, of texts, of images, or of what each part is for."""
    places = []
    for page in PAGES:
        for name, part in _parts(page).items():
            shown = [each for each in page.modalities if each in part.modalities]
            if modality not in (None, *shown):
                continue
            first = modality or shown[0]
            start = {**page.quick, **({page.part_key: name} if name else {})}
            if first != page.modalities[0]:
                start = {key: value for key, value in start.items() if key != "model"}
                start["input"] = first
            links = [link for link in part.visits if modality in (None, link.get("input", first))]
            places += [(page.name, {**start, **link}) for link in links]
    return places


def _parts(page: Page) -> dict[str, Part]:
    """The parts of the page; itself where it has none."""
    return dict(page.parts) or {"": Part(page.title, page.modalities, page.visits)}


@contextmanager
def prepared_site() -> Iterator[None]:
    """A site that offers a large atlas."""
    from tests.atlas.files import write_folder
    from tests.pages.atlases import small  # which opens the app too

    with TemporaryDirectory() as folder:
        write_folder(small(), Path(folder) / "large.atlas", [(0, 1), (2, 3)], (1, 2))
        with mock.patch.dict(os.environ, HEADSCOPE_ATLASES=folder):
            yield
