"""What is ablated, and interventions of every kind of network, against surgery on the weights."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PIL import Image

from core.model import load, trace_image, trace_text
from core.model.capture.forward import inputs_of, recorded
from core.model.errors import UnsupportedModelError
from core.model.interventions.ablation import Cell, ablate
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.heads import effects
from core.model.interventions.measures import measures_of
from core.model.interventions.probe import as_input, probe_of, run
from core.model.interventions.reference import outputs_of
from core.model.language import next_words
from core.model.sample_images import open_box
from tests.model.bundled import loaded
from tests.model.families import CAPTURED, SENTENCES
from tests.model.interventions.surgery import without_heads
from tests.pages.vision import model_folder
from tests.rounding import assert_same_pass, assert_same_shares

if TYPE_CHECKING:
    from core.model import LoadedModel, Trace
    from tests.conftest import ModelOf

SENTENCE = SENTENCES[1]
ONE_OF_EACH = [each.name for each in CAPTURED if " " not in each.name]
BOOK = "Oh, this book? I've enjoyed it."
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
    assert result.after.hidden_states is not None
    assert result.before.hidden_states is not None
    changes = np.abs(result.after.hidden_states - result.before.hidden_states)[1:]
    assert (changes.max(axis=(1, 2)) > 1e-3 * np.abs(result.before.hidden_states).max()).all()
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


@pytest.mark.parametrize("name", ["bert", "bloom"])
def test_where_nothing_is_chosen_nothing_changes(name: str, model_of: ModelOf) -> None:
    result = ablate(model_of(name), SENTENCE)
    assert np.array_equal(result.before.queries, result.after.queries)
    assert result.change == 0


def test_one_head_changes_and_turns_as_the_effect_of_that_head_says() -> None:
    for name, text in (("minilm", BOOK), ("gpt2-novels", "The young lady was very happy")):
        model = loaded(f"bundled/{name}")
        for replace in ("mean", "resample"):
            found = effects(model, text, replace, heads=[(2, 1)], draws=4)  # type: ignore[arg-type]
            result = ablate(model, text, heads=[(2, 1)], replace=replace)  # type: ignore[arg-type]
            assert result.change == pytest.approx(found.values[2, 1], rel=1e-4)
            assert result.draws == pytest.approx(found.draws[:, 2, 1], rel=1e-3)
            assert (result.measure, result.words) == (found.measure, found.words)


def test_what_is_likeliest_before_and_after_is_the_next_word_of_both_models() -> None:
    gpt2, text = loaded("bundled/gpt2-novels"), "The young lady was very happy to see her"
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
    vit, image = loaded("bundled/vit-scenes"), open_box("three-shapes")
    result = ablate(vit, image, heads=[(4, 1)], replace="zero")
    _assert_alike(result.after, trace_image(_cut(vit, (4, 1)), image))
    assert result.unit == "logits"
    assert vit.vision is not None
    assert {each.name for each in result.expected} <= set(vit.vision.labels)
    assert sum(each.before for each in result.expected) <= 1
    cut = ablate(vit, image, cells=[Cell(0, 5, 5, 1)])
    assert cut.after.attention(5, 1)[0, 5] == 0


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "t5", "bart"])
def test_an_intervention_that_changes_nothing_changes_nothing(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    probe = probe_of(model, SENTENCE, "sentence")
    with torch.inference_mode():
        plain = probe.network(**probe.inputs(1))[0].double().mean(1)[0]
    same = [
        Replacement(layer, head, output[:, head])
        for layer, output in enumerate(outputs_of(probe))
        for head in range(output.shape[1])
    ]
    for intervention in (Intervention(), Intervention(same)):
        assert_same_pass(run(probe, intervention)[0], plain)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_every_kind_of_attention_of_an_encoder_decoder_can_be_changed(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    item = as_input(model, SENTENCE)
    targets = [item.ids[:5]]
    inputs = inputs_of(model.network, model.tokenizer, [item.ids], [item.segments], targets)
    modules = [
        iter(model.attention[attention_type].outputs or ()) for attention_type in model.attention
    ]
    by_type = dict(zip(model.attention, modules, strict=True))
    for number, attention_type in enumerate(model.order):
        cut = without_heads(model, (next(by_type[attention_type]), 1))
        change = Intervention([Replacement(number, 1, 0.0)])
        with torch.inference_mode():
            expected = cut(**inputs)[0]
            with recorded(model.way, 1, {len(item.ids), 5}, change=change, keeps=False):
                changed = model.network(**inputs)[0]
        assert float((changed - expected).abs().max()) < 2e-6 * float(expected.abs().max())


def test_a_measure_that_a_model_has_not_is_refused(model_of: ModelOf) -> None:
    model = model_of("bert")
    assert measures_of(model) == ("sentence",)
    with pytest.raises(UnsupportedModelError, match="cannot be measured by 'kl'") as refusal:
        effects(model, SENTENCE, measure="kl")
    assert "'sentence'" in refusal.value.advice


def test_an_image_without_classes_is_measured_by_the_vector_of_cls() -> None:
    model = load(model_folder("vit"))
    image = Image.effect_mandelbrot((32, 32), (-2, -1.5, 1, 1.5), 50).convert("RGB")
    found = effects(model, image, "zero", draws=0)
    assert found.unit == "1 − cosine of the CLS vector"
    inputs = probe_of(model, image, "class").inputs(1)
    with torch.inference_mode():
        before, after = (
            network(**inputs).last_hidden_state[0, 0].double()
            for network in (model.network, without_heads(model, (1, 1)))
        )
    expected = 1 - torch.nn.functional.cosine_similarity(before, after, dim=0)
    assert found.values[1, 1] == pytest.approx(float(expected), rel=1e-3)
