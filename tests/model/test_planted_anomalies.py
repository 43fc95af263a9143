"""Networks whose weights are set so that one head is odd: it is found, by name and number.

Every plant goes into L2 H3 of a tiny random GPT-2; the same network without it is not flagged.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
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


def longer_queries(model: LoadedModel) -> None:
    """Each query is ten times as long as its key, in a direction of its own."""
    turn, _ = torch.linalg.qr(torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(0)))
    (w_q, b_q), (w_k, b_k) = part(model, QUERY), part(model, KEY)
    w_q.copy_(10 * w_k @ turn)
    b_q.copy_(10 * b_k @ turn)


def empty_first_value(model: LoadedModel) -> None:
    """The first token's value is zero."""
    first = inputs_of(model)[0]
    weight, bias = part(model, VALUE)
    weight -= torch.outer(first, first @ weight) / first.dot(first)
    bias.zero_()


def null_attention(model: LoadedModel) -> None:
    """The first token's value is zero, and every query asks for it."""
    empty_first_value(model)
    first = inputs_of(model)[0]
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


@pytest.fixture
def planted(folder_of: FolderOf) -> Callable[..., tuple[pd.DataFrame, Trace]]:
    """The table and the trace of a network of one's own with this plant."""

    def measure(plant: Callable[[LoadedModel], None] | None) -> tuple[pd.DataFrame, Trace]:
        model = load(str(folder_of("gpt2")))
        if plant is not None:
            with torch.inference_mode():
                plant(model)
        trace = trace_text(model, TEXT)
        norms, similarity = transformed_norms(model, trace), weight_similarity(model)
        return anomaly_table(trace, norms, similarity), trace

    return measure


@pytest.mark.parametrize(
    ("plant", "flag"),
    [
        (longer_queries, "norm disparity"),
        (empty_first_value, "empty value"),
        (null_attention, "null attention"),
        (null_attention, "first-token sink"),
        (one_key_each, "entropy collapse"),
        (one_key_each, "alike weights"),
    ],
)
def test_a_planted_head_is_found_and_the_same_network_without_it_is_not_flagged(
    planted: Callable[..., tuple[pd.DataFrame, Trace]],
    plant: Callable[[LoadedModel], None],
    flag: str,
) -> None:
    plain, _ = planted(None)
    odd, _ = planted(plant)
    assert flag not in plain["flags"][ROW]
    assert flag in odd["flags"][ROW]
    assert (odd["layer"][ROW], odd["head"][ROW]) == (LAYER + 1, HEAD + 1)
    # Earlier layers and the layer's other heads do not feel the plant.
    untouched = [index for index in range(8) if index != ROW]
    assert flag not in ", ".join(plain["flags"][untouched])
    assert flag not in ", ".join(odd["flags"][untouched])


def test_no_head_of_the_random_network_has_a_flag(
    planted: Callable[..., tuple[pd.DataFrame, Trace]],
) -> None:
    plain, _ = planted(None)
    assert list(plain["flags"]) == [""] * 12
    assert plain["severity"].sum() == 0


def test_queries_ten_times_longer_are_measured_as_ten(
    planted: Callable[..., tuple[pd.DataFrame, Trace]],
) -> None:
    table, _ = planted(longer_queries)
    odd = table.iloc[ROW]
    assert odd["norm_log_ratio"] == pytest.approx(math.log2(10), abs=1e-4)
    assert odd["query_norm"] == pytest.approx(10 * odd["key_norm"], rel=1e-4)
    assert "the median query is 10.0 times as long as the median key" in odd["reasons"]


def test_null_attention_is_the_mass_on_the_token_that_carries_nothing(
    planted: Callable[..., tuple[pd.DataFrame, Trace]],
) -> None:
    table, trace = planted(null_attention)
    odd, weights = table.iloc[ROW], trace.attention(LAYER, HEAD)
    assert odd["first_value"] == pytest.approx(0, abs=1e-5)
    assert odd["first_contribution"] == pytest.approx(0, abs=1e-5)
    assert odd["first_attention"] == pytest.approx(weights[:, 0].mean(), abs=1e-6)
    assert odd["first_attention"] > 0.5
    assert odd["null_attention"] >= odd["first_attention"] - 1e-5
    size = len(trace.tokens)
    assert odd["first_uniform"] == pytest.approx(np.mean([1 / (i + 1) for i in range(size)]))


def test_alike_weights_correlate_at_one(
    planted: Callable[..., tuple[pd.DataFrame, Trace]],
) -> None:
    table, _ = planted(one_key_each)
    assert table["weight_similarity"][ROW] == pytest.approx(1, abs=1e-5)
    assert table["entropy"][ROW] < 0.1
