"""Every family of vision transformers against its own eager attention in transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import load, trace_image
from tests.model.image.families import FAMILIES, PATCH, SIDE, as_input, build, image

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from transformers import PreTrainedModel

    from core.model import LoadedModel

    Opened = tuple[LoadedModel, PreTrainedModel]
    Open = Callable[[str], Opened]

WIDE = (SIDE + 2 * PATCH, SIDE + PATCH)  # another size than the model's own, and no square
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Open:
    """A family's model as the app opens it, and as transformers has it."""
    known: dict[str, Opened] = {}

    def of(name: str) -> Opened:
        if name not in known:
            folder = tmp_path_factory.mktemp("vision")
            network = build(FAMILIES[name], folder)
            known[name] = load(str(folder)), network
        return known[name]

    return of


def eager(network: PreTrainedModel, pixels: NDArray[np.uint8]) -> Any:
    """The network's own pass, with patches unmasked and positions interpolated if need be."""
    settings: dict[str, Any] = {}
    if network.config.model_type == "vit_mae":
        network.config.mask_ratio = 0.0
        count = pixels.shape[0] * pixels.shape[1] // PATCH**2
        settings["noise"] = torch.arange(count, dtype=torch.float32)[None]
    if pixels.shape[:2] != (SIDE, SIDE) and not network.config.model_type.startswith("dino"):
        settings["interpolate_pos_encoding"] = True
    with torch.inference_mode():
        return network(
            pixel_values=as_input(pixels),
            output_attentions=True,
            output_hidden_states=True,
            **settings,
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("size", [(SIDE, SIDE), WIDE], ids=["own size", "another size"])
def test_attention_is_that_of_transformers(opened: Open, name: str, size: tuple[int, int]) -> None:
    model, network = opened(name)
    pixels = image(*size)
    trace = trace_image(model, pixels, size)
    attention = trace.attention()
    own = np.stack([each[0].numpy() for each in eager(network, pixels).attentions])
    np.testing.assert_allclose(attention, own, atol=TOLERANCE)
    np.testing.assert_allclose(attention.sum(-1), 1, atol=TOLERANCE)
    assert attention.max() > 3 / attention.shape[-1]  # far from uniform, which could hide anything


@pytest.mark.parametrize("name", FAMILIES)
def test_a_white_patch_changes_its_own_token_alone(opened: Open, name: str) -> None:
    model, _ = opened(name)
    row, column = 2, 4
    black = np.zeros((SIDE, SIDE, 3), dtype=np.uint8)
    white = black.copy()
    white[row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH] = 255
    one, other = (trace_image(model, pixels) for pixels in (black, white))
    moved = np.abs(one.queries[0] - other.queries[0]).max(axis=(0, 2))
    (changed,) = np.flatnonzero(moved > TOLERANCE)
    token = one.tokens[changed]
    assert (token.row, token.column, token.text, token.special) == (row, column, "r3c5", False)
    assert one.patches is not None
    assert changed == one.patches.first + row * (SIDE // PATCH) + column


@pytest.mark.parametrize("name", FAMILIES)
def test_a_model_says_how_it_sees(opened: Open, name: str) -> None:
    model, network = opened(name)
    own = FAMILIES[name].own
    vision = model.vision
    assert vision is not None
    assert model.sees_images
    assert (vision.patch_size, vision.image_size) == (PATCH, (SIDE, SIDE))
    assert vision.has_cls == ("[CLS]" in own)
    assert vision.distillation == ("[DIST]" in own)
    assert vision.registers == sum(each.startswith("[REG") for each in own)
    assert vision.interpolates
    assert (model.layers, model.heads, model.dim, model.causal) == (3, 4, 8, False)
    assert model.probe_error < TOLERANCE
    assert model.outputs is not None
    modules = dict(network.named_modules())
    assert [modules[each].weight.shape for each in model.outputs] == [(32, 32)] * 3
