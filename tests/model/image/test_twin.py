"""The untrained twin of a vision model: the same architecture with fresh weights."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import load, trace_image, trace_patches, untrained_twin
from tests.model.image.families import FAMILIES, build, image

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FAMILIES)
def test_every_family_has_a_twin_of_its_shape_that_another_seed_changes(
    kind: str, tmp_path: Path
) -> None:
    build(FAMILIES[kind], tmp_path)
    model = load(str(tmp_path), modality="image")
    before = torch.get_rng_state()
    twins = [untrained_twin(model), untrained_twin(model), untrained_twin(model, seed=1)]
    assert torch.equal(torch.get_rng_state(), before)
    weights = [dict(each.network.named_parameters()) for each in (model, *twins)]
    shapes = [{name: weight.shape for name, weight in each.items()} for each in weights]
    assert shapes[0] == shapes[1] == shapes[3]
    assert all(torch.equal(weights[1][name], weights[2][name]) for name in weights[1])
    large = (each for each in weights[0].items() if each[1].ndim > 1)
    matrices = [name for name, _ in large if name.endswith("weight")]  # mask tokens begin at 0
    for other in (weights[0], weights[3]):
        assert not any(torch.equal(weights[1][name], other[name]) for name in matrices)
    trace = trace_image(model, image())
    assert trace.patches is not None
    seen = trace_patches(twins[0], trace.patches)
    assert seen.shape == trace.shape
    assert seen.tokens == trace.tokens
    assert np.abs(seen.attention() - trace.attention()).max() > 0.01
    kept = trace_image(model, image())
    np.testing.assert_array_equal(kept.queries, trace.queries)  # the model is as it was


def test_a_twin_is_gone_once_nobody_holds_it(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    model = load(str(tmp_path), modality="image")
    twin = untrained_twin(model)
    trace = trace_image(twin, image())
    network = weakref.ref(twin.network)
    del twin
    gc.collect()
    assert network() is None
    assert trace.shape[0] == model.layers
