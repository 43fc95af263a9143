"""Every family of vision transformers against its own eager attention in transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import load, trace_image
from tests.model.image.families import FAMILIES, PATCH, SIDE, as_input, build, image

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from transformers import PreTrainedModel

OWN = (SIDE, SIDE)
WIDE = (SIDE + 2 * PATCH, SIDE + PATCH)  # another size than the model's own, and no square
TOLERANCE = 1e-5


def eager(network: PreTrainedModel, pixels: NDArray[np.uint8]) -> Any:
    """The network's own attention, with patches unmasked and positions interpolated if need be."""
    settings: dict[str, Any] = {}
    if network.config.model_type == "vit_mae":
        network.config.mask_ratio = 0.0
        count = pixels.shape[0] * pixels.shape[1] // PATCH**2
        settings["noise"] = torch.arange(count, dtype=torch.float32)[None]
    if pixels.shape[:2] != OWN and not network.config.model_type.startswith("dino"):
        settings["interpolate_pos_encoding"] = True
    with torch.inference_mode():
        output = network(pixel_values=as_input(pixels), output_attentions=True, **settings)
    return torch.cat(output.attentions).numpy()


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_attention_is_that_of_transformers_and_tokens_are_patches_in_order(
    name: str, tmp_path: Path
) -> None:
    family = FAMILIES[name]
    network = build(family, tmp_path)
    model = load(str(tmp_path))
    for size in (OWN, WIDE):
        attention = trace_image(model, image(*size), size).attention()
        np.testing.assert_allclose(attention, eager(network, image(*size)), atol=TOLERANCE)
        assert attention.max() > 3 / attention.shape[-1]  # not uniform, which could hide anything
    vision = model.vision
    assert vision is not None
    assert (vision.patch_size, vision.image_size, vision.interpolates) == (PATCH, OWN, True)
    assert (vision.has_cls, vision.distillation) == ("[CLS]" in family.own, "[DIST]" in family.own)
    assert (model.layers, model.heads, model.dim, model.causal) == (3, 4, 8, False)
    assert model.probe_error < TOLERANCE
    modules = dict(network.named_modules())
    assert [modules[each].weight.shape for each in model.outputs or ()] == [(32, 32)] * 3
    # A white patch changes its own token alone.
    row, column = 2, 4
    black = np.zeros((*OWN, 3), dtype=np.uint8)
    white = black.copy()
    white[row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH] = 255
    one, other = (trace_image(model, pixels) for pixels in (black, white))
    assert tuple(token.text for token in one.tokens[: vision.first]) == family.own
    moved = np.abs(one.queries[0] - other.queries[0]).max(axis=(0, 2))
    (changed,) = np.flatnonzero(moved > TOLERANCE)
    token = one.tokens[changed]
    assert (token.row, token.column, token.text, token.special) == (row, column, "r3c5", False)
    assert changed == vision.first + row * (SIDE // PATCH) + column
