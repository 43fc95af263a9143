"""Interventions against surgery on the weights, and against the rows of recorded attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from core.model import load
from core.model.capture.forward import inputs_of, recorded
from core.model.errors import UnsupportedModelError
from core.model.interventions.changing import Intervention, Replacement
from core.model.interventions.heads import as_input, effects, run_changed
from core.model.interventions.measures import measured, measures_of
from core.model.interventions.reference import outputs_of
from tests.model.families import CAPTURED, FAMILIES, HEADS, SENTENCES
from tests.model.interventions.surgery import without_heads
from tests.pages.vision import model_folder
from tests.rounding import assert_same_pass

if TYPE_CHECKING:
    from core.model import LoadedModel
    from core.model.interventions.measures import Measured
    from tests.conftest import ModelOf

SENTENCE = SENTENCES[1]
# Conv1D, linear maps, grouped queries, its own width of heads, relative positions, networks that
# are watched.
CUT = ("gpt2", "bert", "llama", "qwen3", "t5", "bart", "bloom", "deberta-v2", "modernbert")
ONE_OF_EACH = [each.name for each in CAPTURED if " " not in each.name]


def _measured(model: LoadedModel, text: str = SENTENCE) -> Measured:
    return measured(model, as_input(model, text), "sentence")


def _read(model: LoadedModel, way: Measured, intervention: Intervention) -> torch.Tensor:
    return run_changed(model, way, intervention)[0]


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "t5", "bart"])
def test_an_intervention_that_changes_nothing_changes_nothing(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    way = _measured(model)
    network = way.network
    with torch.inference_mode():
        plain = network(**way.inputs(1))[0].double().mean(1)[0]
    outputs = outputs_of(model, network, way.inputs(1), way.tokens)
    same = {
        layer: [Replacement(0, head, output[:, head]) for head in range(output.shape[1])]
        for layer, output in enumerate(outputs)
    }
    for intervention in (Intervention(), Intervention(same)):
        changed = _read(model, way, intervention)
        assert_same_pass(changed, plain)


@pytest.mark.parametrize("name", CUT)
def test_zero_is_a_head_without_its_columns_of_w_o(name: str, model_of: ModelOf) -> None:
    model, head = model_of(name), 2
    way = _measured(model)
    for layer in range(model.layers):
        cut = without_heads(model, (layer, head))
        network = cut.get_encoder() if model.is_encoder_decoder else cut
        with torch.inference_mode():
            expected = network(**way.inputs(1))[0].double().mean(1)[0]
        changed = _read(model, way, Intervention({layer: [Replacement(0, head, 0.0)]}))
        before = _read(model, way, Intervention())
        assert float((changed - expected).abs().max()) < 2e-6 * float(expected.abs().max())
        assert float((changed - before).abs().max()) > 1e-3 * float(before.abs().max())


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
        change = Intervention({number: [Replacement(0, 1, 0.0)]})
        with torch.inference_mode():
            expected = cut(**inputs)[0]
            with recorded(model.way, 1, {len(item.ids), 5}, change=change, keeps=False):
                changed = model.network(**inputs)[0]
        assert float((changed - expected).abs().max()) < 2e-6 * float(expected.abs().max())


def test_zero_is_a_head_of_images_without_its_columns_of_w_o() -> None:
    from PIL import Image

    model = load(model_folder("vit"))
    image = Image.effect_mandelbrot((32, 32), (-2, -1.5, 1, 1.5), 50).convert("RGB")
    way = measured(model, as_input(model, image), "class")
    cut = without_heads(model, (1, 1))
    with torch.inference_mode():
        expected = cut(**way.inputs(1)).last_hidden_state[0, 0].double()
    changed = _read(model, way, Intervention({1: [Replacement(0, 1, 0.0)]}))
    assert float((changed - expected).abs().max()) < 2e-6 * float(expected.abs().max())
    assert effects(model, image, "zero").unit == "1 − cosine of the CLS vector"


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "t5"])
def test_a_forbidden_cell_gets_nothing_and_the_others_of_its_row_share_it(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    way = _measured(model)
    forbidden = torch.zeros(HEADS, way.tokens, way.tokens, dtype=torch.bool)
    forbidden[1, 3, 2] = True
    attends = "exact" if model.way == "fast" else model.way

    def weights(change: Intervention | None) -> torch.Tensor:
        kept: list[torch.Tensor] = []
        with (
            torch.inference_mode(),
            recorded(
                attends,
                1,
                {way.tokens},
                check=lambda _call, _output, weights: kept.append(weights[0].double()),  # type: ignore[index]
                change=change,
                keeps=False,
            ),
        ):
            way.network(**way.inputs(1))
        return kept[0]

    before, after = weights(None), weights(Intervention(cells={0: forbidden}))
    expected = before.masked_fill(forbidden, 0)
    expected[1, 3] *= before[1, 3].sum() / expected[1, 3].sum()
    if name == "gpt_oss":  # its sink takes its share of what is forbidden
        expected[1, 3] = before[1, 3].masked_fill(forbidden[1, 3], 0) / (1 - before[1, 3, 2])
    assert float(before[1, 3, 2]) > 1e-4
    assert float((after - expected).abs().max()) < 1e-5


def test_a_measure_that_a_model_has_not_is_refused(model_of: ModelOf) -> None:
    model = model_of("bert")
    assert measures_of(model) == ("sentence",)
    with pytest.raises(UnsupportedModelError, match="cannot be measured by 'kl'") as refusal:
        effects(model, SENTENCE, measure="kl")
    assert "'sentence'" in refusal.value.advice
    assert set(CUT) <= set(FAMILIES)
