"""A layer has the number that its own network gives it: in hybrids, only some layers attend."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import load, trace_text
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel

ATTEND = {"full_attention", "hybrid"}  # what configurations call layers with attention
HYBRIDS = ("lfm2", "jamba", "zamba", "nemotron_h")  # in Zamba, layers share one module


@pytest.fixture(scope="module", params=HYBRIDS)
def hybrid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("hybrid")
    build(request.param, folder)
    return load(str(folder))


def test_layers_of_a_hybrid_have_the_numbers_of_the_layers_that_its_settings_let_attend(
    hybrid: LoadedModel,
) -> None:
    attending = [n for n, kind in enumerate(hybrid.network.config.layer_types) if kind in ATTEND]
    trace = trace_text(hybrid, SENTENCES[0])
    assert attending != list(range(len(attending)))
    assert [layer.number for layer in trace.layers] == attending
    assert trace.layer_labels == hybrid.layer_labels == tuple(n + 1 for n in attending)
    assert trace.depth == len(hybrid.network.config.layer_types)


def test_hidden_states_of_a_hybrid_are_what_its_attending_layers_received(
    hybrid: LoadedModel,
) -> None:
    received: dict[int, np.ndarray] = {}

    def keep(number: int, given: torch.Tensor) -> None:
        received[number] = given[0].numpy().copy()

    hooks = [
        layer.register_forward_pre_hook(
            lambda _, args, named, n=n: keep(n + 1, args[0] if args else named["hidden_states"]),
            with_kwargs=True,
        )
        for n, layer in enumerate(hybrid.network.layers)
    ]
    try:
        trace = trace_text(hybrid, SENTENCES[0])
    finally:
        for hook in hooks:
            hook.remove()
    ids = torch.tensor([[token.id for token in trace.tokens]])
    with torch.no_grad():
        output = hybrid.network(input_ids=ids).last_hidden_state[0].numpy()
    expected = [*(received[number] for number in trace.layer_labels), output]
    assert trace.hidden_states is not None
    np.testing.assert_allclose(trace.hidden_states, np.stack(expected), atol=1e-4)


def test_a_watched_network_says_its_numbers_too(tmp_path: Path) -> None:
    build("lfm2", tmp_path)
    model = load(str(tmp_path))
    model.network.set_attn_implementation("eager")
    trace = trace_text(replace(model, way="watched"), SENTENCES[0])
    assert trace.layer_labels == (2, 4)
