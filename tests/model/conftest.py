"""Each tiny model is saved, loaded and given its oracle once a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
import torch

from tests.model.families import FAMILIES, Oracle, build, oracle

if TYPE_CHECKING:
    from core.model.loaded import LoadedModel

FolderOf: TypeAlias = Callable[[str], Path]
OracleOf: TypeAlias = Callable[[str], Oracle]
ModelOf: TypeAlias = "Callable[[str], LoadedModel]"


@pytest.fixture(scope="package", autouse=True)
def _one_core_a_model() -> Iterator[None]:
    """Tiny matrices gain nothing from several cores and lose much where others use them."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderOf:
    """Name of a family -> the folder its tiny model is saved in."""

    @cache
    def folder(name: str) -> Path:
        return build(FAMILIES[name], tmp_path_factory.mktemp("tiny " + name))

    return folder


@pytest.fixture(scope="session")
def oracle_of(folder_of: FolderOf) -> OracleOf:
    """Name of a family -> an instance of its own, with eager attention."""

    @cache
    def eager(name: str) -> Oracle:
        return oracle(folder_of(name))

    return eager


@pytest.fixture(scope="session")
def model_of(folder_of: FolderOf) -> ModelOf:
    """Name of a family -> the model as the project loads it."""
    from core.model import load

    @cache
    def loaded(name: str) -> LoadedModel:
        return load(str(folder_of(name)))

    return loaded
