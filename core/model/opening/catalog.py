"""The catalogue: its models, and whether one of them is local, complete, and fits in memory."""

from __future__ import annotations

import hashlib
import importlib.util
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from core.model import memory
from core.model.errors import BundledModelError, UnknownModelError
from core.model.opening import hub
from core.vocabulary import Modality

_FILE = Path(__file__).with_name("models.toml")
Group = Literal["encoder", "decoder", "multilingual", "encoder-decoder", "vision"]


@dataclass(frozen=True)
class ModelSpec:
    """One model in the catalogue.

    Attributes
    ----------
    name : what people pick, and what a link carries.
    title : the name in words.
    good_for : one or two sentences that help to choose.
    group : the group that it is listed in.
    size_mb : size of the safetensors files in megabytes (10^6 bytes), as they were published when
        they were entered here, rounded; the hub's own number is shown before a download.
    bytes_per_weight : of the number type of the weights in the files.
    repos : ids on the model hub, the current one first; empty for a bundled model.
    gated : whether the hub gives it only to people who have accepted its licence there.
    package, folder : for a bundled model, the package that carries its folder.
    pins : for a bundled model, the sha256 of each of its files.
    begin : layer and head, from 1, that image pages show first; None where there is no better
        choice than the last layer.
    """

    name: str
    title: str
    good_for: str
    group: Group
    size_mb: int
    repos: tuple[str, ...] = ()
    bytes_per_weight: int = 4
    gated: bool = False
    package: str = ""
    folder: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    begin: tuple[int, int] | None = None

    @property
    def bundled(self) -> bool:
        """Whether the weights come with the installation."""
        return bool(self.package)

    @property
    def modality(self) -> Modality:
        """What the model reads. Of CLIP, only the part that reads images is listed."""
        return "image" if self.group == "vision" else "text"

    @property
    def weights(self) -> int:
        """About how many weights the files hold."""
        return self.size_mb * 10**6 // self.bytes_per_weight


def _read(entry: Mapping[str, Any]) -> ModelSpec:
    lists = {name: tuple(value) for name, value in entry.items() if isinstance(value, list)}
    return ModelSpec(**{**entry, **lists})


CATALOG = tuple(map(_read, tomllib.loads(_FILE.read_text("utf-8"))["models"]))

DEFAULT_MODEL = CATALOG[0].name
_SECOND_DEFAULT = CATALOG[1].name  # part of this repository
_REMOTE = ("//", "\\\\")  # looking there can log in to another machine
_REINSTALL = f"Run: pip install -r requirements.txt. {_SECOND_DEFAULT} works without it."


def find_entry(name: str) -> ModelSpec | None:
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

    For images, the first that reads them.
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
        package = importlib.util.find_spec(spec.package)
    except (ImportError, ValueError):
        package = None
    if package is None or not package.submodule_search_locations:
        raise _not_installed(spec)
    return Path(package.submodule_search_locations[0]) / spec.folder


def bundled_problem(spec: ModelSpec) -> BundledModelError | None:
    """Why a bundled model cannot be used; None if its files are the published ones."""
    try:
        folder = bundled_folder(spec)
    except BundledModelError as error:
        return error
    if not folder.is_dir():
        return _not_installed(spec)
    different = first_difference(folder, spec.pins)
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
    """Whether the model's weights fit in that much memory, by the rule of the check at load."""
    return memory.needed_bytes(spec.weights) <= free_bytes


def _not_installed(spec: ModelSpec) -> BundledModelError:
    return BundledModelError("The embedded model {name} is not installed.", _REINSTALL, spec.name)


def first_difference(folder: Path, pins: Mapping[str, str]) -> str | None:
    """Name of a file in the folder that differs from its pin; None if all match.

    Files are read once per process (91 MB in 0.12 s), and again when their size, time or inode
    changes.
    """
    try:
        stats = [(folder / name).stat() for name in pins]
    except OSError:
        return next((name for name in pins if not (folder / name).is_file()), "config.json")
    state = tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats)
    return _first_different(folder, tuple(pins.items()), state)


@lru_cache(maxsize=16)  # a changed folder has a new state
def _first_different(folder: Path, pins: tuple[tuple[str, str], ...], _state: object) -> str | None:
    return next((name for name, pin in pins if _sha256(folder / name) != pin), None)


def _sha256(path: Path) -> str | None:
    """The file's sha256 in hexadecimal; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
