"""What is taken away, against surgery on the weights, and against the text written otherwise."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import load, trace_image, trace_text
from core.model.box import open_box
from core.model.errors import UnsupportedModelError, WrongInputError
from core.model.interventions.heads import as_input, effects
from core.model.interventions.taking import Cell, Taken, taken_away
from core.model.language import next_words
from tests.model.families import HEADS, SENTENCES
from tests.model.language.checkpoints import build_with_head
from tests.rounding import assert_same_pass, assert_same_shares

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel, Trace
    from tests.conftest import ModelOf

SENTENCE = SENTENCES[1]
BOOK = "Oh, this book? I've enjoyed it."
WATCHED = ["bloom", "deberta-v2"]


def _without_columns(model: LoadedModel, places: list[tuple[int, int]]) -> LoadedModel:
    """The model with those heads' parts of W_O set to zero by hand."""
    network = copy.deepcopy(model.network)
    assert model.outputs is not None
    for layer, head in places:
        module = network.get_submodule(model.outputs[layer])
        weight = module.weight.detach()
        rows = weight if type(module).__name__ == "Conv1D" else weight.T
        width = len(rows) // model.heads
        rows[head * width : (head + 1) * width] = 0
    return dataclasses.replace(model, network=network)


def _assert_alike(first: Trace, second: Trace) -> None:
    assert first.tokens == second.tokens
    assert_same_shares(first.attention(), second.attention(), second)
    assert_same_pass(first.queries, second.queries)


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "t5", *WATCHED])
def test_heads_replaced_by_zero_leave_the_trace_of_a_model_without_their_columns(
    name: str, model_of: ModelOf
) -> None:
    model, places = model_of(name), [(0, 1), (0, 2), (1, 0)]
    taken = taken_away(model, SENTENCE, heads=places, replace="zero", draws=0)
    cut = _without_columns(model, places)
    _assert_alike(taken.after, trace_text(cut, SENTENCE, decode=False))
    _assert_alike(taken.before, trace_text(model, SENTENCE, decode=False))
    assert np.abs(taken.after.queries[1] - taken.before.queries[1]).max() > 1e-4
    assert np.isnan(taken.control)


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5", *WATCHED])
def test_a_forbidden_cell_is_empty_and_the_others_of_its_row_grow_in_proportion(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    taken = taken_away(model, SENTENCE, cells=[Cell(3, 2, 1, 1)])
    before, after = taken.before.attention(), taken.after.attention()
    assert np.abs(after[0] - before[0]).max() < 1e-5  # the layer before it
    expected = before[1].copy()
    expected[1, 3, 2] = 0
    expected[1, 3] /= expected[1, 3].sum()
    assert before[1, 1, 3, 2] > 1e-4
    assert after[1, 1, 3, 2] == 0
    assert np.abs(after[1] - expected).max() < 1e-5
    assert taken.change > 0
    assert len(taken.draws) == (3 if model.causal else 4)  # a causal query sees three other keys
    assert taken.control == np.abs(taken.draws).max()


def test_an_edge_is_cut_in_one_head_in_one_layer_or_everywhere(model_of: ModelOf) -> None:
    model, plain = model_of("bert"), trace_text(model_of("bert"), SENTENCE).attention()
    for cell, empty in ((Cell(3, 2, 1), 1), (Cell(3, 2, None, 2), 2), (Cell(3, 2), 3)):
        after = taken_away(model, SENTENCE, cells=[cell]).after.attention()[..., 3, 2]
        places = {
            1: [(1, head) for head in range(HEADS)],
            2: [(layer, 2) for layer in range(len(plain))],
            3: [(layer, head) for layer in range(len(plain)) for head in range(HEADS)],
        }[empty]
        assert sorted(zip(*np.nonzero(after == 0), strict=True)) == places


def test_the_control_of_an_edge_cuts_the_key_whose_weight_is_nearest(model_of: ModelOf) -> None:
    model = model_of("bert")
    row = trace_text(model, SENTENCE).attention(1, 1)[3]
    nearest = min((key for key in range(len(row)) if key != 2), key=lambda k: abs(row[k] - row[2]))
    taken = taken_away(model, SENTENCE, cells=[Cell(3, 2, 1, 1)], draws=1)
    other = taken_away(model, SENTENCE, cells=[Cell(3, nearest, 1, 1)], draws=0)
    assert_same_pass(taken.draws, [other.change], 1)  # one cosine less another


def test_a_query_keeps_at_least_one_key(model_of: ModelOf) -> None:
    model = model_of("gpt2")
    last = [Cell(1, key) for key in (0, 1)]
    assert taken_away(model, SENTENCE, cells=last[:1]).after.attention(0, 0)[1, 1] == 1
    with pytest.raises(UnsupportedModelError, match="left without any key"):
        taken_away(model, SENTENCE, cells=last)
    assert taken_away(model, SENTENCE, cells=[Cell(1, 2)]).change == 0  # it never saw that key


@pytest.mark.parametrize("name", ["gpt2", "bert", *WATCHED])
def test_where_nothing_is_chosen_nothing_changes(name: str, model_of: ModelOf) -> None:
    taken = taken_away(model_of(name), SENTENCE)
    assert np.array_equal(taken.before.queries, taken.after.queries)
    assert taken.change == 0
    assert all(before == after for before, after in taken.aligned)


def test_one_head_changes_and_turns_as_the_effect_of_that_head_says() -> None:
    for name, text in (("minilm", BOOK), ("gpt2-novels", "The young lady was very happy")):
        model = load(f"bundled/{name}")
        for replace in ("mean", "resample"):
            found = effects(model, text, replace, heads=[(2, 1)], draws=4)  # type: ignore[arg-type]
            taken = taken_away(model, text, heads=[(2, 1)], replace=replace)  # type: ignore[arg-type]
            assert taken.change == pytest.approx(found.values[2, 1], rel=1e-4)
            assert taken.draws == pytest.approx(found.draws[:, 2, 1], rel=1e-3)
            assert (taken.measure, taken.words) == (found.measure, found.words)


@pytest.mark.parametrize(
    ("by", "other"),
    [
        ("novel", "Oh, this novel? I've enjoyed it."),
        ("unforgettable thing", "Oh, this unforgettable thing? I've enjoyed it."),
        ("", "Oh, this? I've enjoyed it."),
        (None, "Oh, this [MASK]? I've enjoyed it."),
    ],
)
def test_a_word_written_anew_is_the_other_text(by: str | None, other: str) -> None:
    model = load("bundled/minilm")
    taken = taken_away(model, BOOK, word=4, by=by)
    _assert_alike(taken.after, trace_text(model, other))
    pairs = [(taken.before.tokens[i].text, taken.after.tokens[j].text) for i, j in taken.aligned]
    assert all(first == second for first, second in pairs)
    assert len(pairs) == len(taken.before.tokens) - 1
    ids = [torch.tensor([as_input(model, text).ids]) for text in (BOOK, other)]
    with torch.inference_mode():
        first, second = (model.network(each)[0][0].double().mean(0) for each in ids)
    expected = 1 - torch.nn.functional.cosine_similarity(first, second, dim=0)
    assert_same_pass(taken.change, float(expected), 1)  # one cosine less another
    assert len(taken.draws) == 4


def test_all_pieces_of_a_word_go_and_those_of_a_second_text_keep_their_place() -> None:
    model, text, pair = load("bundled/minilm"), "It rains.", "A capybara swims."
    tokens = trace_text(model, text, pair).tokens
    pieces = [token.position for token in tokens if token.text in {"cap", "##y", "##bara"}]
    assert len(pieces) == 3
    hidden = taken_away(model, text, pair=pair, word=pieces[1])
    assert [hidden.after.tokens[place].text for place in pieces] == ["[MASK]"] * 3
    assert hidden.aligned == tuple((i, i) for i in range(len(tokens)) if i not in pieces)
    other = taken_away(model, text, pair=pair, word=pieces[1], by="dog")
    _assert_alike(other.after, trace_text(model, text, "A dog swims."))
    assert other.aligned[-1] == (len(tokens) - 1, len(tokens) - 3)


def test_a_cell_moves_with_its_tokens_when_a_word_is_written_anew() -> None:
    model = load("bundled/minilm")
    taken = taken_away(model, BOOK, word=4, by="unforgettable thing", cells=[Cell(10, 9, 0, 0)])
    moved = dict(taken.aligned)
    assert moved[10] > 10
    after = taken.after.attention(0, 0)
    assert after[moved[10], moved[9]] == 0
    assert after[10, 9] > 0
    gone = taken_away(model, BOOK, word=4, by="novel", cells=[Cell(10, 4, 0, 0)])
    assert (gone.after.attention(0, 0) > 0).all()


def test_only_words_can_be_written_anew_and_only_behind_a_mask_that_there_is() -> None:
    minilm, gpt2 = load("bundled/minilm"), load("bundled/gpt2-novels")
    for place in (0, 12, 99):
        with pytest.raises(WrongInputError, match="no word at that place"):
            taken_away(minilm, BOOK, word=place)
    with pytest.raises(UnsupportedModelError, match="has no mask"):
        taken_away(gpt2, BOOK, word=2)


def test_what_is_likeliest_before_and_after_is_the_next_word_of_both_texts() -> None:
    gpt2, text = load("bundled/gpt2-novels"), "The young lady was very happy to see her"
    other = "The young king was very happy to see her"
    taken = taken_away(gpt2, text, word=3, by="king")
    before, after = (
        {guess.display: guess.probability for guess in next_words(gpt2, each, count=5)}
        for each in (text, other)
    )
    found = {each.name: (each.before, each.after) for each in taken.expected}
    assert set(found) == set(before) | set(after)
    assert [found[name][0] for name in before] == pytest.approx(list(before.values()), rel=1e-5)
    assert [found[name][1] for name in after] == pytest.approx(list(after.values()), rel=1e-5)
    measured_otherwise = taken_away(gpt2, text, word=3, by="king", measure="sentence")
    assert measured_otherwise.expected == taken.expected


def test_a_masked_model_is_measured_at_one_word_before_and_after(tmp_path: Path) -> None:
    build_with_head("bert", "BertForMaskedLM", tmp_path, stir=0.3)
    bert = load(str(tmp_path))
    text = "The cat sat on the mat."
    tokens = trace_text(bert, text).tokens
    words = {token.display: token.position for token in tokens}
    first = taken_away(bert, text, word=words["cat"], by=None)
    assert first.is_masked
    assert first.position is not None
    assert first.position > words["cat"]
    assert first.change > 0
    last = taken_away(bert, text, word=first.position, by=None)
    assert last.position is not None
    assert last.position != first.position
    with torch.inference_mode():
        ids = torch.tensor([[token.id for token in tokens]])
        ids[0, last.position] = bert.tokenizer.mask_token_id
        other = ids.clone()
        other[0, first.position] = bert.tokenizer.mask_token_id
        own, changed = (
            bert.language_model(each).logits[0, last.position].double().log_softmax(0)  # type: ignore[misc]
            for each in (ids, other)
        )
    assert last.change == pytest.approx(float((own.exp() * (own - changed)).sum()), rel=1e-4)


def test_heads_and_edges_of_an_image_change_its_classes() -> None:
    vit, image = load("bundled/vit-scenes"), open_box("three-shapes")
    taken = taken_away(vit, image, heads=[(4, 1)], replace="zero")
    _assert_alike(taken.after, trace_image(_without_columns(vit, [(4, 1)]), image))
    assert taken.unit == "logits"
    assert vit.vision is not None
    assert {each.name for each in taken.expected} <= set(vit.vision.labels)
    assert sum(each.before for each in taken.expected) <= 1
    cut = taken_away(vit, image, cells=[Cell(0, 5, 5)])
    assert (cut.after.attention(5)[:, 0, 5] == 0).all()


def test_a_cut_text_keeps_what_was_measured(model_of: ModelOf) -> None:
    taken = taken_away(model_of("bert"), SENTENCE, word=2, by="it", max_tokens=6)
    assert isinstance(taken, Taken)
    assert len(taken.before.tokens) == 6
    assert all(taken.before.tokens[i].id == taken.after.tokens[j].id for i, j in taken.aligned)
