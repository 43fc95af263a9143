"""Tiny random vision transformers, saved as people publish them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from transformers import PreTrainedModel

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
    """A class of transformers with its settings, and the tokens that precede its patches."""

    config: str
    network: str
    own: tuple[str, ...] = ("[CLS]",)
    settings: dict[str, Any] = field(default_factory=dict)


_REGISTERS = ("[CLS]", "[REG1]", "[REG2]", "[REG3]", "[REG4]")
FAMILIES = {
    "vit": Family("ViTConfig", "ViTModel"),
    "deit": Family("DeiTConfig", "DeiTModel", ("[CLS]", "[DIST]")),
    "dinov2": Family("Dinov2Config", "Dinov2Model"),
    "dinov2_with_registers": Family(
        "Dinov2WithRegistersConfig",
        "Dinov2WithRegistersModel",
        _REGISTERS,
        {"num_register_tokens": 4},
    ),
    "dinov3_vit": Family(
        "DINOv3ViTConfig", "DINOv3ViTModel", _REGISTERS, {"num_register_tokens": 4}
    ),
    "beit": Family("BeitConfig", "BeitModel", settings={"use_absolute_position_embeddings": True}),
    "beit with relative positions": Family(
        "BeitConfig", "BeitModel", settings={"use_relative_position_bias": True}
    ),
    "siglip": Family("SiglipVisionConfig", "SiglipVisionModel", ()),
    "clip": Family("CLIPVisionConfig", "CLIPVisionModel"),
    "vit_mae": Family("ViTMAEConfig", "ViTMAEModel", settings={"mask_ratio": 0.75}),
    "vit_msn": Family("ViTMSNConfig", "ViTMSNModel"),
    "data2vec": Family(
        "Data2VecVisionConfig",
        "Data2VecVisionModel",
        settings={"use_absolute_position_embeddings": True},
    ),
    "ijepa": Family("IJepaConfig", "IJepaModel", ()),
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
    kind = changes.pop("network", family.network)
    config = getattr(transformers, family.config)(**(TINY | family.settings | changes))
    network = saved(kind, config, folder)
    write_processor(folder, size={"height": SIDE, "width": SIDE})
    return network


def saved(kind: str, config: Any, folder: Path) -> PreTrainedModel:
    """A network of that class with random weights, in evaluation mode."""
    torch.manual_seed(SEED)
    network: PreTrainedModel = getattr(transformers, kind)._from_config(
        config, attn_implementation="eager"
    )
    with torch.no_grad():
        for parameter in network.parameters():  # also biases and norms, which would hide mistakes
            parameter.add_(torch.randn_like(parameter) * _SPREAD)
    network.save_pretrained(folder)
    return network.eval()


def write_processor(folder: Path, **settings: Any) -> None:
    """A preprocessor_config.json with mean 0.5 and deviation 0.25, unless settings differ."""
    usual = {"image_mean": [0.5] * 3, "image_std": [0.25] * 3, "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps(usual | settings), "utf-8")


def as_input(pixels: NDArray[np.uint8]) -> torch.Tensor:
    """What that processor makes of pixels that need no resizing: (1, 3, height, width)."""
    scaled = torch.from_numpy(np.array(pixels)).float() / 255
    return ((scaled - 0.5) / 0.25).permute(2, 0, 1)[None]
