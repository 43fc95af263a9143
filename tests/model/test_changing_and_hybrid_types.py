"""Types that are unlike others: passes change the network, or only some layers attend."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import load, trace_text
from core.model.errors import UnsupportedModelError
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel

SPARSE = {"block_size": 8, "num_random_blocks": 1, "max_position_embeddings": 128}
LONG = "the cat sat on " * 24  # beyond what it attends to in full: 56 tokens


def test_a_short_text_does_not_switch_bigbird_to_full_attention(tmp_path: Path) -> None:
    build("big_bird", tmp_path, attention_type="block_sparse", **SPARSE)
    model = load(str(tmp_path))
    for _ in range(2):
        trace = trace_text(model, "the cat sat")
        assert (trace.attention() > 0).all()
        assert model.network.attention_type == "block_sparse"
        with pytest.raises(UnsupportedModelError, match="another kind of attention"):
            trace_text(model, LONG)  # in blocks, which cannot be followed


def test_other_networks_need_no_lock(tmp_path: Path) -> None:
    build("bert", tmp_path)
    assert load(str(tmp_path)).network_lock is None


def test_rotary_embeddings_that_stretch_do_not_stay_stretched(tmp_path: Path) -> None:
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10_000.0}
    build("llama", tmp_path, rope_parameters=rope, max_position_embeddings=16)
    model = load(str(tmp_path))
    short = trace_text(model, "the cat sat")
    table = model.network.rotary_emb.inv_freq
    trace_text(model, " ".join(SENTENCES[:2]))
    assert model.network.rotary_emb.inv_freq is table
    np.testing.assert_array_equal(trace_text(model, "the cat sat").queries, short.queries)


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
