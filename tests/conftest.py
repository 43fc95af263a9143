"""Each tiny model is saved, loaded and given its oracle once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from core.model.loaded import LoadedModel
    from tests.model.families import Oracle

FolderOf: TypeAlias = Callable[[str], Path]
OracleOf: TypeAlias = "Callable[[str], Oracle]"
ModelOf: TypeAlias = "Callable[[str], LoadedModel]"


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderOf:
    """Name of a family -> the folder its tiny model is saved in."""
    from tests.model.families import FAMILIES, build

    return cache(lambda name: build(FAMILIES[name], tmp_path_factory.mktemp("tiny " + name)))


@pytest.fixture(scope="session")
def oracle_of(folder_of: FolderOf) -> OracleOf:
    """Name of a family -> an instance of its own, with eager attention."""
    from tests.model.families import oracle

    return cache(lambda name: oracle(folder_of(name)))


@pytest.fixture(scope="session")
def model_of(folder_of: FolderOf) -> ModelOf:
    """Name of a family -> the model as the project loads it."""
    from core.model import load

    return cache(lambda name: load(str(folder_of(name))))
