"""One forward pass of a batch of images, recorded."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.model.capture.calls import Change, Check, Recorder
from core.model.capture.forward import AttentionMode, run_inputs
from core.model.image.facts import Vision, pair_of
from core.model.image.pixels import Pixels, normalise

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def run_images(
    network: PreTrainedModel,
    vision: Vision,
    images: Sequence[Pixels],
    *,
    way: AttentionMode,
    check: Check | None = None,
    change: Change | None = None,
) -> tuple[Recorder, Any]:
    """Run processed images of one size together; returns what :func:`run_inputs` does."""
    inputs = image_inputs(network, vision, images)
    tokens = vision.tokens(image_size(images[0]))
    return run_inputs(network, inputs, len(images), {tokens}, way=way, check=check, change=change)


def image_inputs(
    network: PreTrainedModel, vision: Vision, images: Sequence[Pixels]
) -> dict[str, Any]:
    """The network's inputs: (image, channel, height, width), in its own number type."""
    import torch

    built_for = pair_of(network.config.image_size)
    first = next(network.parameters())
    pixels = np.stack([normalise(each, vision.processing) for each in images])
    inputs: dict[str, Any] = {
        "pixel_values": torch.from_numpy(pixels).to(device=first.device, dtype=first.dtype)
    }
    accepted = inspect.signature(network.forward).parameters
    if "interpolate_pos_encoding" in accepted and image_size(images[0]) != built_for:
        inputs["interpolate_pos_encoding"] = True
    if "noise" in accepted:  # masked autoencoders sort patches by it: ascending keeps their order
        rows, columns = vision.grid(image_size(images[0]))
        noise = torch.arange(rows * columns, dtype=torch.float32, device=first.device)
        inputs["noise"] = noise.expand(len(images), -1)
    return inputs


def image_size(pixels: Pixels) -> tuple[int, int]:
    """(height, width)."""
    return pixels.shape[0], pixels.shape[1]
