"""The catalogue: its models, and whether one of them is local, whole, and fits in memory."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from core.model import memory
from core.model.catalog import integrity
from core.model.catalog.models import CATALOG, Group, ModelSpec
from core.model.downloading import hub
from core.model.errors import BundledModelError, UnknownModelError
from core.vocabulary import Modality

__all__ = [
    "CATALOG",
    "DEFAULT_MODEL",
    "Group",
    "Modality",
    "ModelSpec",
    "as_folder",
    "bundled_folder",
    "bundled_problem",
    "default_model",
    "find",
    "fits",
    "is_local",
    "reading",
]

DEFAULT_MODEL = CATALOG[0].name
_SECOND_DEFAULT = CATALOG[1].name  # part of this repository
_REMOTE = ("//", "\\\\")  # looking there can log in to another machine
_REINSTALL = f"Run: pip install -r requirements.txt. {_SECOND_DEFAULT} works without it."


def find(name: str) -> ModelSpec | None:
    """The catalogue's entry for a name or hub id, or None."""
    return next((spec for spec in CATALOG if name == spec.name or name in spec.repos), None)


def as_folder(name: str) -> Path | None:
    """`name` as a local folder; None if it reads like a hub id.

    Raises
    ------
    UnknownModelError
        When it reads like a folder and there is none.
    """
    try:
        path = Path(name).expanduser()
        if name and not name.startswith(_REMOTE) and path.is_dir():
            return path
    except (OSError, ValueError, RuntimeError):
        pass  # too long, a NUL byte or no such user: not a folder either
    if not name or name.startswith(("/", ".", "~", "\\")) or name.count("/") > 1 or "\0" in name:
        raise UnknownModelError("There is no folder {name} on this machine.", name=name)
    return None


def reading(modality: Modality) -> tuple[ModelSpec, ...]:
    """The models on offer that read texts, or those that read images."""
    return tuple(spec for spec in CATALOG if spec.modality == modality)


def default_model(modality: Modality = "text") -> str:
    """The model to begin with: `DEFAULT_MODEL`, or the other bundled one if that is missing.

    Of those that read images, the first.
    """
    if modality == "image":
        return reading(modality)[0].name
    return DEFAULT_MODEL if bundled_problem(CATALOG[0]) is None else _SECOND_DEFAULT


def bundled_folder(spec: ModelSpec = CATALOG[0]) -> Path:
    """Folder of a bundled model, found without importing the package that carries it.

    Raises
    ------
    BundledModelError
        When the package is not installed.
    """
    try:
        found = importlib.util.find_spec(spec.package)
    except (ImportError, ValueError):
        found = None
    if found is None or not found.submodule_search_locations:
        raise _not_installed(spec)
    return Path(found.submodule_search_locations[0]) / spec.folder


def bundled_problem(spec: ModelSpec) -> BundledModelError | None:
    """Why a bundled model cannot be used; None if its files are the published ones."""
    try:
        folder = bundled_folder(spec)
    except BundledModelError as error:
        return error
    if not folder.is_dir():
        return _not_installed(spec)
    different = integrity.first_difference(folder, spec.pins)
    if different is None:
        return None
    return BundledModelError(
        "The embedded model {name} is not the published one:"
        f" its {different} differs, so it is not used.",
        _REINSTALL,
        spec.name,
    )


def is_local(spec: ModelSpec) -> bool:
    """Whether the model can be loaded without downloading anything."""
    if spec.bundled:
        return bundled_problem(spec) is None
    return any(hub.cached_folder(repo) for repo in spec.repos)


def fits(spec: ModelSpec, free_bytes: int) -> bool:
    """Whether the model's weights fit in that much memory, as the check at load sees it."""
    return memory.needed_bytes(spec.weights) <= free_bytes


def _not_installed(spec: ModelSpec) -> BundledModelError:
    return BundledModelError("The embedded model {name} is not installed.", _REINSTALL, spec.name)
