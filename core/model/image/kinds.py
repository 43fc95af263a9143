"""Whether a checkpoint reads texts or images, and which part of it reads images."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.model.errors import PICK_VISION, UnsupportedModelError, WrongInputError
from core.model.image.facts import image_geometry
from core.vocabulary import Modality

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


_TOWERS = ("text_config", "vision_config")  # settings of networks that pair texts with images
# What networks call the settings by which they attend in windows, or merge patches on the way.
_WINDOWS = ("window_size", "mask_unit_size", "depths", "num_stages", "sr_ratios")
_WINDOWED = (
    "attends within windows or merges its patches on the way, so no head compares all patches of"
    " an image."
)


def what_it_reads(config: Mapping[str, object], asked: Modality | None) -> Modality:
    """What the network of a config.json is given.

    Parameters
    ----------
    config : content of config.json, not checked yet.
    asked : which part to open of a network that reads both, such as CLIP; None opens the part that
        reads texts.

    Raises
    ------
    WrongInputError
        When it does not read what is asked for.
    """
    kind = config.get("model_type")
    if isinstance(kind, str) and _reads_images_alone(kind):
        if asked == "text":
            raise WrongInputError("{name} reads images, not texts.", "Use it with an image.")
        return "image"
    if asked == "image" and not all(isinstance(config.get(part), dict) for part in _TOWERS):
        raise WrongInputError("{name} reads texts, not images.", "Use it with a text.")
    return asked or "text"


def vision_config(config: PreTrainedConfig) -> PreTrainedConfig:
    """The settings of the part that reads images, with every patch seen and in its place.

    Raises
    ------
    UnsupportedModelError
        For networks that attend in windows (swin, hiera and their like), and where the settings
        describe no grid of patches.
    """
    own: PreTrainedConfig = getattr(config, "vision_config", config)
    if any(getattr(own, name, None) is not None for name in _WINDOWS):
        raise UnsupportedModelError(f"{{name}} ({own.model_type}) {_WINDOWED}", PICK_VISION)
    if hasattr(own, "mask_ratio"):  # a masked autoencoder hides patches, here none
        own.mask_ratio = 0.0
    image_geometry(own)
    return own


def _reads_images_alone(kind: str) -> bool:
    """Whether transformers' network of that type takes images and nothing else."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    names = MODEL_MAPPING_NAMES.get(kind, ())
    first = names if isinstance(names, str) else next(iter(names), "")
    try:
        network = getattr(transformers, first)
        takes_ids = "input_ids" in inspect.signature(network.forward).parameters
        return tuple(network.input_modalities) == ("image",) and not takes_ids
    except Exception:  # noqa: BLE001 - a package is missing or there is no such class: refused later
        return False
