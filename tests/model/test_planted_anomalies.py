"""Weights set so that L2 H3 of a tiny random GPT-2 is odd: it is flagged, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from core.analysis.anomalies import anomaly_table
from core.model import load, trace_text
from core.model.weights.output_projection import transformed_norms
from core.model.weights.query_key import weight_similarity
from tests.model.families import HIDDEN, SENTENCES

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from core.model.loaded import LoadedModel
    from core.model.trace import Trace
    from tests.model.conftest import FolderOf

LAYER, HEAD, DIM = 1, 2, 8
ROW = LAYER * 4 + HEAD
TEXT = SENTENCES[3]  # on which no head of the random network is odd
QUERY, KEY, VALUE = 0, 1, 2


def part(model: LoadedModel, which: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight (width, dim) and bias (dim,) of the head's queries, keys or values."""
    module = model.network.get_submodule(f"h.{LAYER}.attn.c_attn")
    columns = slice(which * HIDDEN + HEAD * DIM, which * HIDDEN + (HEAD + 1) * DIM)
    weight, bias = module.weight, module.bias
    assert isinstance(weight, torch.Tensor)
    assert isinstance(bias, torch.Tensor)
    return weight.data[:, columns], bias.data[columns]


def inputs_of(model: LoadedModel) -> torch.Tensor:
    """What the layer's attention receives for TEXT, (token, width)."""
    seen: list[torch.Tensor] = []
    module = model.network.get_submodule(f"h.{LAYER}.attn.c_attn")
    handle = module.register_forward_hook(lambda _m, given, _out: seen.append(given[0][0]))
    trace_text(model, TEXT)
    handle.remove()
    return seen[0].clone()


def null_attention(model: LoadedModel) -> None:
    """The first token's value is zero, and every query asks for it."""
    first = inputs_of(model)[0]
    weight, bias = part(model, VALUE)
    weight -= torch.outer(first, first @ weight) / first.dot(first)
    bias.zero_()
    (w_q, b_q), (w_k, b_k) = part(model, QUERY), part(model, KEY)
    for each in (w_q, w_k, b_q, b_k):
        each.zero_()
    w_k[:, 0] = first / first.dot(first)  # its key is (1, 0, ...), the others' are shorter
    b_q[0] = 15.0


def one_key_each(model: LoadedModel) -> None:
    """Every query is its own key, so long that softmax sees nothing else."""
    (w_q, b_q), (w_k, b_k) = part(model, QUERY), part(model, KEY)
    w_k.mul_(20)
    b_k.mul_(20)
    w_q.copy_(w_k)
    b_q.copy_(b_k)


def measure(
    folder_of: FolderOf, plant: Callable[[LoadedModel], None] | None
) -> tuple[pd.DataFrame, Trace]:
    """The table and the trace of the network with this plant."""
    model = load(str(folder_of("gpt2")))
    if plant is not None:
        with torch.inference_mode():
            plant(model)
    trace = trace_text(model, TEXT)
    norms, similarity = transformed_norms(model, trace), weight_similarity(model)
    return anomaly_table(trace, norms, similarity), trace


def test_no_head_of_the_random_network_has_a_flag(folder_of: FolderOf) -> None:
    table, _ = measure(folder_of, None)
    assert list(table["flags"]) == [""] * 12
    assert table["severity"].sum() == 0


@pytest.mark.parametrize(
    ("plant", "flags"),
    [
        (null_attention, {"null attention", "first-token sink"}),
        (one_key_each, {"entropy collapse", "alike weights"}),
    ],
)
def test_a_planted_head_is_flagged_and_heads_that_do_not_feel_it_are_not(
    folder_of: FolderOf, plant: Callable[[LoadedModel], None], flags: set[str]
) -> None:
    table, trace = measure(folder_of, plant)
    odd, weights = table.iloc[ROW], trace.attention(LAYER, HEAD)
    assert flags <= set(odd["flags"].split(", "))
    assert list(table["flags"][:8].drop(ROW)) == [""] * 7  # earlier layers, and this layer's others
    assert odd["first_attention"] == pytest.approx(weights[:, 0].mean(), abs=1e-6)
    if plant is one_key_each:
        assert odd["weight_similarity"] == pytest.approx(1, abs=1e-5)
        return
    assert (odd["first_value"], odd["first_contribution"]) == pytest.approx((0, 0), abs=1e-5)
    assert odd["null_attention"] >= odd["first_attention"] - 1e-5
