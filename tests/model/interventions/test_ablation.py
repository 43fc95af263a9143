"""What is ablated, against surgery on the weights."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_image, trace_text
from core.model.box import open_box
from core.model.errors import UnsupportedModelError
from core.model.interventions.ablation import Cell, ablate
from core.model.interventions.heads import effects
from core.model.language import next_words
from tests.model.families import SENTENCES
from tests.model.interventions.surgery import without_heads
from tests.rounding import assert_same_pass, assert_same_shares

if TYPE_CHECKING:
    from core.model import LoadedModel, Trace
    from tests.conftest import ModelOf

SENTENCE = SENTENCES[1]
BOOK = "Oh, this book? I've enjoyed it."
WATCHED = ["bloom", "deberta-v2"]


def _cut(model: LoadedModel, *places: tuple[int, int]) -> LoadedModel:
    return dataclasses.replace(model, network=without_heads(model, *places))


def _assert_alike(first: Trace, second: Trace) -> None:
    assert first.tokens == second.tokens
    assert_same_shares(first.attention(), second.attention(), second)
    assert_same_pass(first.queries, second.queries)


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "t5", *WATCHED])
def test_heads_replaced_by_zero_leave_the_trace_of_a_model_without_their_columns(
    name: str, model_of: ModelOf
) -> None:
    model, places = model_of(name), [(0, 1), (0, 2), (1, 0)]
    result = ablate(model, SENTENCE, heads=places, replace="zero", draws=0)
    _assert_alike(result.after, trace_text(_cut(model, *places), SENTENCE, decode=False))
    _assert_alike(result.before, trace_text(model, SENTENCE, decode=False))
    assert np.abs(result.after.queries[1] - result.before.queries[1]).max() > 1e-4
    assert np.isnan(result.control)


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5", *WATCHED])
def test_a_forbidden_cell_is_empty_and_the_others_of_its_row_grow_in_proportion(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    result = ablate(model, SENTENCE, cells=[Cell(3, 2, 1, 1)])
    before, after = result.before.attention(), result.after.attention()
    assert np.abs(after[0] - before[0]).max() < 1e-5  # the layer before it
    expected = before[1].copy()
    expected[1, 3, 2] = 0
    expected[1, 3] /= expected[1, 3].sum()
    assert before[1, 1, 3, 2] > 1e-4
    assert after[1, 1, 3, 2] == 0
    assert np.abs(after[1] - expected).max() < 1e-5
    assert result.change > 0
    assert len(result.draws) == (3 if model.causal else 4)  # a causal query sees three other keys
    assert result.control == np.abs(result.draws).max()


def test_the_control_of_an_edge_cuts_the_key_whose_weight_is_nearest(model_of: ModelOf) -> None:
    model = model_of("bert")
    row = trace_text(model, SENTENCE).attention(1, 1)[3]
    nearest = min((key for key in range(len(row)) if key != 2), key=lambda k: abs(row[k] - row[2]))
    result = ablate(model, SENTENCE, cells=[Cell(3, 2, 1, 1)], draws=1)
    other = ablate(model, SENTENCE, cells=[Cell(3, nearest, 1, 1)], draws=0)
    assert_same_pass(result.draws, [other.change], 1)  # one cosine less another


def test_a_query_keeps_at_least_one_key(model_of: ModelOf) -> None:
    model = model_of("gpt2")
    last = [Cell(1, key, 0, 0) for key in (0, 1)]
    assert ablate(model, SENTENCE, cells=last[:1]).after.attention(0, 0)[1, 1] == 1
    with pytest.raises(UnsupportedModelError, match="left without any key"):
        ablate(model, SENTENCE, cells=last)
    assert ablate(model, SENTENCE, cells=[Cell(1, 2, 0, 0)]).change == 0  # it never saw that key


@pytest.mark.parametrize("name", ["gpt2", "bert", *WATCHED])
def test_where_nothing_is_chosen_nothing_changes(name: str, model_of: ModelOf) -> None:
    result = ablate(model_of(name), SENTENCE)
    assert np.array_equal(result.before.queries, result.after.queries)
    assert result.change == 0


def test_one_head_changes_and_turns_as_the_effect_of_that_head_says() -> None:
    for name, text in (("minilm", BOOK), ("gpt2-novels", "The young lady was very happy")):
        model = load(f"bundled/{name}")
        for replace in ("mean", "resample"):
            found = effects(model, text, replace, heads=[(2, 1)], draws=4)  # type: ignore[arg-type]
            result = ablate(model, text, heads=[(2, 1)], replace=replace)  # type: ignore[arg-type]
            assert result.change == pytest.approx(found.values[2, 1], rel=1e-4)
            assert result.draws == pytest.approx(found.draws[:, 2, 1], rel=1e-3)
            assert (result.measure, result.words) == (found.measure, found.words)


def test_what_is_likeliest_before_and_after_is_the_next_word_of_both_models() -> None:
    gpt2, text = load("bundled/gpt2-novels"), "The young lady was very happy to see her"
    result = ablate(gpt2, text, heads=[(1, 2)], replace="zero")
    whole = without_heads(gpt2, (1, 2), whole=gpt2.language_model)
    before, after = (
        {guess.display: guess.probability for guess in next_words(each, text, count=5)}
        for each in (gpt2, dataclasses.replace(gpt2, language_model=whole))
    )
    found = {each.name: (each.before, each.after) for each in result.expected}
    assert set(found) == set(before) | set(after)
    assert [found[name][0] for name in before] == pytest.approx(list(before.values()), rel=1e-5)
    assert [found[name][1] for name in after] == pytest.approx(list(after.values()), rel=1e-4)
    measured_otherwise = ablate(gpt2, text, heads=[(1, 2)], replace="zero", measure="sentence")
    assert measured_otherwise.expected == result.expected


def test_heads_and_edges_of_an_image_change_its_classes() -> None:
    vit, image = load("bundled/vit-scenes"), open_box("three-shapes")
    result = ablate(vit, image, heads=[(4, 1)], replace="zero")
    _assert_alike(result.after, trace_image(_cut(vit, (4, 1)), image))
    assert result.unit == "logits"
    assert vit.vision is not None
    assert {each.name for each in result.expected} <= set(vit.vision.labels)
    assert sum(each.before for each in result.expected) <= 1
    cut = ablate(vit, image, cells=[Cell(0, 5, 5, 1)])
    assert cut.after.attention(5, 1)[0, 5] == 0
