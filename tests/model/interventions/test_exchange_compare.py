"""Exchanges between two texts, one recomputed by hooks on W_O."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from core.model import load
from core.model.interventions.exchange import _answer, exchange
from core.model.interventions.probe import as_input
from tests.model.bundled import loaded
from tests.model.families import SENTENCES, nightly
from tests.model.language.checkpoints import WITH_HEAD, build_with_head
from tests.model.planted import PLANTED

SIDES = ("I enjoyed this book.", "I enjoyed this unremarkable film.")  # five pieces for the book
UNITS = [[0], [1], [2], [3], [4], [5]], [[0], [1], [2], [3], [4, 5, 6, 7, 8], [9]]
KINDS = WITH_HEAD | {"class": "BertForSequenceClassification"}


@pytest.mark.parametrize("turn", [1, -1])
def test_the_share_is_that_of_the_straight_way_between_two_answers(turn: int) -> None:
    minilm, columns = loaded("bundled/minilm"), slice(288, 320)  # of head 9
    seen: list[torch.Tensor] = []
    sides, units = SIDES[::turn], UNITS[::turn]
    module = minilm.network.get_submodule("encoder.layer.3.attention.output.dense")

    def put(_module: Any, inputs: Any) -> Any:
        states = inputs[0].clone()
        for ours, theirs in zip(*units, strict=True):
            states[0, theirs, columns] = seen[0][0, ours, columns].mean(0)
        return (states,)

    def vector(text: str) -> Any:
        states = minilm.network(torch.tensor([as_input(minilm, text).ids]))[0]
        return states[0].detach().double().mean(0).numpy()

    with module.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0])):
        a, b = map(vector, sides)
    with module.register_forward_pre_hook(put):
        share = np.dot(vector(sides[1]) - b, a - b) / np.dot(a - b, a - b)
    found = exchange(minilm, sides[0], sides[1], *units, draws=2, heads=[(3, 9)])
    assert found.values[3, 9] == pytest.approx(share, rel=1e-3)
    assert np.isfinite([found.values, *found.draws]).sum() == 3


def test_the_way_between_two_distributions_is_as_long_as_their_divergence() -> None:
    a, noise = torch.randn(2, 1, 50, generator=torch.manual_seed(0), dtype=torch.float64)
    answer, b = _answer("kl", a, a + 0.01 * noise), a + 0.01 * noise
    expected = 2 * entropy(a[0].softmax(0), b[0].softmax(0))
    assert float((answer(a) - answer(b)).square().sum()) == pytest.approx(expected, rel=0.02)


def test_between_identical_sides_nothing_changes_at_all() -> None:
    found = exchange(loaded("bundled/minilm"), SIDES[0], SIDES[0], UNITS[0], UNITS[0], draws=2)
    assert not np.any([found.values, *found.draws])


def test_there_is_no_way_to_go_where_nothing_that_heads_write_arrives() -> None:
    model, texts = load(PLANTED["sink"].folder), PLANTED["sink"].examples[0]
    for layer in model.network.h:
        layer.attn.c_proj.weight.data.zero_()
    found = exchange(model, texts.text, texts.contrast, [range(8)], [range(8)], draws=2)
    assert found.same_answer
    assert np.isnan(found.values).any()


@pytest.mark.parametrize("name", nightly(KINDS, but={"bert", "gpt2", "bloom", "t5", "class"}))
def test_every_kind_of_model_is_exchanged_whatever_it_says(name: str, tmp_path: Path) -> None:
    build_with_head(name.replace("class", "bert"), KINDS[name], tmp_path, stir=0.3)
    model = load(str(tmp_path))
    found = exchange(model, *SENTENCES[1:3], UNITS[0], UNITS[0], draws=0)
    assert np.isfinite(found.values).all()
