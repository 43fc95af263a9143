"""What is ablated, and interventions of every kind of network, against surgery on the weights."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from core.model import LoadedModel, Trace, trace_image, trace_text
from core.model.capture.forward import recorded
from core.model.errors import UnsupportedModelError
from core.model.interventions.ablation import Cell, ablate
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.heads import Replace, effects, replacement_rows
from core.model.interventions.probe import as_input, probe_of, run
from core.model.interventions.reference import outputs_of
from core.model.language import next_words
from core.model.sample_images import open_sample_image
from tests.conftest import ModelOf
from tests.model.bundled import loaded
from tests.model.families import CAPTURED, SENTENCES
from tests.model.interventions.surgery import before_and_after, without_heads
from tests.rounding import assert_same_pass, assert_same_shares

SENTENCE = SENTENCES[1]
ONE_OF_EACH = [each.name for each in CAPTURED if " " not in each.name]
BOOK, LADY = SENTENCES[0], "The young lady was very happy to see her"
# Conv1D, linear maps, grouped queries, its own width of heads, relative positions, networks that
# are watched.
CUT = ("gpt2", "bert", "llama", "qwen3", "t5", "bart", "bloom", "deberta-v2", "modernbert")


def _cut(model: LoadedModel, *places: tuple[int, int]) -> LoadedModel:
    return dataclasses.replace(model, network=without_heads(model, *places))


def _assert_alike(first: Trace, second: Trace) -> None:
    assert first.tokens == second.tokens
    assert_same_shares(first.attention(), second.attention(), second)
    assert_same_pass(first.hidden_states, second.hidden_states)


@pytest.mark.parametrize("name", CUT)
def test_heads_replaced_by_zero_leave_the_trace_of_a_model_without_their_columns(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    places = [(0, 1), *((layer, 2) for layer in range(model.layers))]
    result = ablate(model, SENTENCE, heads=places, replace="zero", draws=0)
    _assert_alike(result.after, trace_text(_cut(model, *places), SENTENCE, decode=False))
    _assert_alike(result.before, trace_text(model, SENTENCE, decode=False))
    before, after = (np.array(each.hidden_states) for each in (result.before, result.after))
    assert (np.abs(after - before)[1:].max(axis=(1, 2)) > 1e-3 * np.abs(before).max()).all()
    assert np.isnan(result.control)


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "t5"])
def test_a_forbidden_cell_is_empty_and_the_others_of_its_row_grow_in_proportion(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    result = ablate(model, SENTENCE, cells=[Cell(3, 2, 1, 1)])
    before, after = result.before.attention(), result.after.attention()
    assert np.abs(after[0] - before[0]).max() < 1e-5  # the layer before it
    expected = before[1].copy()
    expected[1, 3, 2] = 0
    expected[1, 3] /= 1 - before[1, 1, 3, 2]  # a sink takes its share of what is forbidden
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


@pytest.mark.parametrize(
    ("name", "text", "replace"), [("minilm", BOOK, "resample"), ("gpt2-novels", LADY, "mean")]
)
def test_one_head_changes_and_turns_as_the_effect_of_that_head_says(
    name: str, text: str, replace: Replace
) -> None:
    model = loaded(f"bundled/{name}")
    found = effects(model, text, replace, heads=[(2, 1)], draws=4)
    result = ablate(model, text, heads=[(2, 1)], replace=replace)
    assert result.change == pytest.approx(found.values[2, 1], rel=1e-4)
    assert result.draws == pytest.approx(found.draws[:, 2, 1], rel=1e-3)
    assert (result.measure, result.words) == (found.measure, found.words)


def test_what_is_likeliest_before_and_after_is_the_next_word_of_both_models() -> None:
    gpt2 = loaded("bundled/gpt2-novels")
    whole = without_heads(gpt2, (1, 2), whole=gpt2.language_model)
    after, before = (
        {guess.display: guess.probability for guess in next_words(each, LADY, count=5)}
        for each in (dataclasses.replace(gpt2, language_model=whole), gpt2)
    )
    for measure in (None, "sentence"):  # whatever is measured
        result = ablate(gpt2, LADY, heads=[(1, 2)], replace="zero", measure=measure)  # type: ignore[arg-type]
        found = {each.name: each for each in result.expected}
        assert set(found) == set(before) | set(after)
        assert {n: found[n].before for n in before} == pytest.approx(before, rel=1e-5)
        assert {n: found[n].after for n in after} == pytest.approx(after, rel=1e-4)


def test_heads_and_edges_of_an_image_change_its_classes() -> None:
    vit, image = loaded("bundled/vit-scenes"), open_sample_image("three-shapes")
    result = ablate(vit, image, heads=[(4, 1)], replace="zero")
    _assert_alike(result.after, trace_image(_cut(vit, (4, 1)), image))
    assert result.unit == "logits"
    assert vit.vision is not None
    assert {each.name for each in result.expected} <= set(vit.labels)
    assert sum(each.before for each in result.expected) <= 1
    cut = ablate(vit, image, cells=[Cell(0, 5, 5, 1)])
    assert cut.after.attention(5, 1)[0, 5] == 0


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "t5", "bart"])
def test_an_intervention_that_changes_nothing_changes_nothing(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    probe = probe_of(model, SENTENCE, "sentence")
    with torch.inference_mode():
        plain = probe.network(**probe.inputs(1))[0].double().mean(1)[0]
    outputs = outputs_of(probe)
    same = [row for _, row in replacement_rows(outputs, outputs)]
    for intervention in (Intervention(), Intervention(same)):
        assert_same_pass(run(probe, intervention)[0], plain)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_every_kind_of_attention_of_an_encoder_decoder_can_be_changed(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    ids = torch.tensor([as_input(model, SENTENCE).ids])
    inputs = {"input_ids": ids, "decoder_input_ids": ids[:, :5], "use_cache": False}
    modules = {kind: iter(own.outputs or ()) for kind, own in model.attention.items()}
    for number, kind in enumerate(model.order):
        _, expected = before_and_after(model, (next(modules[kind]), 1), inputs)
        change = Intervention([Replacement(number, 1, 0.0)])
        lengths = {ids.shape[1], 5}
        with (
            torch.inference_mode(),
            recorded(model.way, 1, lengths, change=change, keeps=False),
        ):
            changed = model.network(**inputs)
        apart = (changed[0] - expected[0]).abs().max()
        assert float(apart) < 2e-6 * float(expected[0].abs().max())
