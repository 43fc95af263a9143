"""What is made once a session: each tiny model, and its oracle."""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy  # noqa: F401, ICN001 - so that Hypothesis finds it below
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

    from core.model.running.loaded import LoadedModel
    from tests.model.oracle import Oracle

FolderOf: TypeAlias = Callable[[str], Path]
OracleOf: TypeAlias = "Callable[[str], Oracle]"
ModelOf: TypeAlias = "Callable[[str], LoadedModel]"


settings.register_profile("night", deadline=None)  # a busy machine decides no test
settings.register_profile("day", deadline=None, max_examples=50)


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # nothing that collection imports is garbage
    settings.load_profile("day" if config.option.markexpr else "night")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of the browser, quick files, slow files.

    Workers begin at both ends, and meet among the quick: none waits long for another's last file.
    """
    browser = {item.path for item in items if item.get_closest_marker("browser")}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path in slow) - (item.path in browser))


def pytest_collection_finish() -> None:
    """What is imported by now stays: searches for garbage need not go through it again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> object:
    """Workers take whole files, so that what a file sets up is set up once.

    Files of the browser share the server and the Chromium of the first worker, which begins with
    them; the others begin at the end of the list.
    """
    from xdist.scheduler.loadscope import LoadScopeScheduling

    class WholeFiles(LoadScopeScheduling):
        def _assign_work_unit(self, node: WorkerController) -> None:
            if node is not self.nodes[0]:
                self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
            super()._assign_work_unit(node)

    config.option.loadscopereorder = False
    return WholeFiles(config, log)


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderOf:
    """Name of a family -> the folder its tiny model is saved in."""
    from tests.model.families import FAMILIES, build

    return cache(lambda name: build(FAMILIES[name], tmp_path_factory.mktemp("tiny " + name)))


@pytest.fixture(scope="session")
def answering_bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny BART with its head, whose answers and cross attention depend on the text."""
    from tests.model.language.checkpoints import build_with_head

    folder = tmp_path_factory.mktemp("models") / "tiny-bart"
    kind = "BartForConditionalGeneration"
    build_with_head("bart", kind, folder, stir=0.5, tie_word_embeddings=False)
    return folder


@pytest.fixture(scope="session")
def oracle_of(folder_of: FolderOf) -> OracleOf:
    """Name of a family -> an instance of its own, with eager attention."""
    from tests.model.oracle import Oracle

    return cache(lambda name: Oracle(folder_of(name)))


@pytest.fixture(scope="session")
def model_of(folder_of: FolderOf) -> ModelOf:
    """Name of a family -> the model as the project loads it."""
    from core.model import load

    return cache(lambda name: load(str(folder_of(name))))


@pytest.fixture(scope="session")
def node() -> str:
    """Path of Node, which comes from PyPI with the other tools."""
    path = shutil.which("node", path=Path(sys.executable).parent) or shutil.which("node")
    assert path is not None, "no Node on this machine (tests/requirements.txt has one)"
    return path
