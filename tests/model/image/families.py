"""Tiny random vision transformers, saved as people publish them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from transformers import PreTrainedModel

from tests.model.families import stirred

SIDE, PATCH = 24, 4  # pixels: a grid of 6 x 6
SEED = 0
_SPREAD = 0.15  # enough for attention far from uniform
TINY: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": SIDE,
    "patch_size": PATCH,
}


@dataclass(frozen=True)
class Family:
    """What classes of transformers begin with, the tokens that precede patches, and settings."""

    classes: str
    own: tuple[str, ...] = ("[CLS]",)
    settings: dict[str, Any] = field(default_factory=dict)


_REGISTERS = ("[CLS]", "[REG1]", "[REG2]", "[REG3]", "[REG4]")
_FOUR, _ABSOLUTE = {"num_register_tokens": 4}, {"use_absolute_position_embeddings": True}
_RELATIVE = {"use_relative_position_bias": True}
FAMILIES = {
    "vit": Family("ViT"),
    "deit": Family("DeiT", ("[CLS]", "[DIST]")),
    "dinov2": Family("Dinov2"),
    "dinov2_with_registers": Family("Dinov2WithRegisters", _REGISTERS, _FOUR),
    "dinov3_vit": Family("DINOv3ViT", _REGISTERS, _FOUR),
    "beit": Family("Beit", settings=_ABSOLUTE),
    "beit with relative positions": Family("Beit", settings=_RELATIVE),
    "siglip": Family("SiglipVision", ()),
    "clip": Family("CLIPVision"),
    "vit_mae": Family("ViTMAE", settings={"mask_ratio": 0.75}),
    "vit_msn": Family("ViTMSN"),
    "data2vec": Family("Data2VecVision", settings=_ABSOLUTE),
    "ijepa": Family("IJepa", ()),
}


@cache
def image(height: int = SIDE, width: int = SIDE, seed: int = 0) -> NDArray[np.uint8]:
    """Random pixels."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    pixels.setflags(write=False)
    return pixels


def build(family: Family, folder: Path, **changes: Any) -> PreTrainedModel:
    """Save a family's network with a processor that keeps its size; returns it, for eager passes.

    `changes` replace settings of its configuration; ``network`` names another class.
    """
    kind = changes.pop("network", f"{family.classes}Model")
    config = getattr(transformers, f"{family.classes}Config")(**(TINY | family.settings | changes))
    network = saved(kind, config, folder)
    write_processor(folder, size={"height": SIDE, "width": SIDE})
    return network


def saved(kind: str, config: Any, folder: Path) -> PreTrainedModel:
    """A network of that class with random weights, in evaluation mode."""
    torch.manual_seed(SEED)
    network = getattr(transformers, kind)._from_config(config, attn_implementation="eager")
    network = stirred(network, _SPREAD, _SPREAD)  # also biases and norms, which would hide mistakes
    network.save_pretrained(folder)
    return network


def write_processor(folder: Path, **settings: Any) -> None:
    """A preprocessor_config.json with mean 0.5 and deviation 0.25, unless settings differ."""
    usual = {"image_mean": [0.5] * 3, "image_std": [0.25] * 3, "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps(usual | settings), "utf-8")


def as_input(pixels: NDArray[np.uint8]) -> torch.Tensor:
    """What that processor makes of pixels that need no resizing: (1, 3, height, width)."""
    scaled = torch.from_numpy(np.array(pixels)).float() / 255
    return ((scaled - 0.5) / 0.25).permute(2, 0, 1)[None]
