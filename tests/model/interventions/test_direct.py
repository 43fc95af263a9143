"""Direct effects and the logit lens against sums by hand over the weights."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import effects, load
from core.model.errors import UnsupportedModelError
from core.model.interventions import direct
from core.model.interventions.direct import direct_effects, direct_parts, written_words
from core.model.interventions.lens import logit_lens
from core.model.interventions.probe import as_input, probe_of
from core.model.interventions.reference import head_outputs
from core.model.language import next_words
from core.model.sample_images import BOX, open_box
from core.model.weights.output_projection import output_projections
from tests.model.bundled import loaded
from tests.model.families import CAPTURED, SENTENCES, nightly
from tests.model.language.checkpoints import WITH_HEAD, build_with_head
from tests.model.planted import PLANTED
from tests.model.sweep.tiny import build, build_causal
from tests.rounding import assert_same_pass

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel
    from core.model.interventions.direct import DirectParts
    from tests.conftest import ModelOf

TEXT = SENTENCES[1]
FOLLOWED = [each.name for each in CAPTURED if " " not in each.name]
WITH_WORDS = (
    *("gpt2", "llama", "gemma2", "bloom", "gpt_neox", "opt"),
    *("bert", "roberta", "distilbert", "modernbert"),
)
MIXTURES = (  # of experts, and networks of bare products
    *("mixtral", "qwen3_moe", "olmoe", "deepseek_v3", "dbrx", "granitemoe", "gpt_oss", "falcon"),
)


def _total(parts: DirectParts) -> float:
    return float(np.nansum(parts.heads) + parts.layers.sum() + parts.embeddings + parts.biases)


def _written(model: LoadedModel, text: str) -> list[torch.Tensor]:
    """What the heads of each layer add to the residual stream, float64 (head, token, width)."""
    projections = output_projections(model)
    assert projections is not None
    outputs = head_outputs(model, as_input(model, text))
    return [
        torch.einsum("thd,hdw->htw", output.double(), weight.double())
        for output, weight in zip(outputs, projections, strict=True)
    ]


@pytest.mark.parametrize("name", [*FOLLOWED, "t5", "bart"])
def test_parts_add_up_and_a_head_that_is_zero_lacks_its_part(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    parts = direct_parts(model, TEXT, "sentence")
    assert _total(parts) == pytest.approx(parts.value, abs=1e-5)
    with torch.inference_mode():
        network = model.network.get_encoder() if model.is_encoder_decoder else model.network
        item = as_input(model, TEXT)
        vector = network(torch.tensor([item.ids]))[0].double().mean(1)
    assert_same_pass(parts.value, float(vector.norm()))
    turned = direct_effects(model, TEXT, "zero", "sentence")
    assert (turned > 0).all()


DAILY = {"gpt2", "llama", "gemma2", "bloom", "bert", "modernbert", "mixtral", "dbrx"}


@pytest.mark.parametrize("name", nightly((*WITH_WORDS, *MIXTURES), but=DAILY))
def test_the_lead_of_a_word_is_taken_apart(name: str, tmp_path: Path) -> None:
    if name in MIXTURES:
        build_causal(name, tmp_path)
    else:
        build_with_head(name, WITH_HEAD[name], tmp_path, stir=0.2)
    model = load(str(tmp_path))
    parts = direct_parts(model, TEXT, "logit_difference")
    assert _total(parts) == pytest.approx(parts.value, abs=1e-4)
    without = direct_effects(model, TEXT, "zero", "logit_difference")
    np.testing.assert_allclose(without, parts.heads, atol=1e-4 * np.abs(parts.heads).max())


def test_by_hand_through_the_final_norm_of_a_decoder(tmp_path: Path) -> None:
    network = build_with_head("gpt2", "GPT2LMHeadModel", tmp_path, stir=0.2)
    model = load(str(tmp_path))
    item = as_input(model, TEXT)
    ended: list[torch.Tensor] = []
    norm = network.transformer.ln_f
    norm.register_forward_pre_hook(lambda _module, given: ended.append(given[0][0, -1].double()))
    with torch.inference_mode():
        logits = network(torch.tensor([item.ids])).logits[0, -1]
    best, second = logits.topk(2).indices.tolist()
    direction = (network.lm_head.weight[best] - network.lm_head.weight[second]).double()
    scale = (ended[0].var(correction=0) + norm.eps).rsqrt() * norm.weight.double()
    parts = direct_parts(model, TEXT, "logit_difference")
    for layer, written in enumerate(_written(model, TEXT)):
        last = written[:, -1]
        expected = ((last - last.mean(-1, keepdim=True)) * scale) @ direction
        np.testing.assert_allclose(parts.heads[layer], expected.detach().numpy(), atol=1e-5)
        up, down, _ = written_words(model, TEXT, layer, 1) or ((), (), 0)
        moved = ((last[1] - last[1].mean()) * scale) @ network.lm_head.weight.double().T
        moved = moved - moved.mean()
        names = {each: model.tokenizer.decode([each]).strip() for each in range(len(moved))}
        order = [
            each
            for each in moved.argsort(descending=True).tolist()
            if names[each].isprintable() and names[each] not in {"", "\ufffd"}
        ]
        assert [each.id for each in up] == order[:5]
        assert [each.id for each in down] == order[:-6:-1]
        assert_same_pass([each.logit for each in up], moved.detach()[order[:5]])


def test_control_characters_and_halves_of_characters_are_no_words() -> None:
    model = loaded("bundled/gpt2-novels")
    control, half, blank = "ą", "æ", "Ġ"  # how the vocabulary spells the bytes 05, E6 and 20
    order = [control, "Ġlady", half, "Ġvery", blank, "s"]
    entries = model.tokenizer.convert_tokens_to_ids(order)
    part = torch.zeros(model.network.config.vocab_size)
    part[entries] = torch.arange(6.0, 0.0, -1.0)
    words, passed_over = direct._most_moved(model, part, 3, 1)
    assert [(each.display, each.logit) for each in words] == [("lady", 5), ("very", 3), ("s", 1)]
    assert passed_over == 3
    words, passed_over = direct._most_moved(model, -part, 2, -1)
    assert [(each.display, each.logit) for each in words] == [("lady", -5), ("very", -3)]
    assert passed_over == 2


def test_by_hand_through_all_norms_after_a_head_of_an_encoder(model_of: ModelOf) -> None:
    model = model_of("bert")
    network = model.network
    scales: list[tuple[torch.Tensor, torch.Tensor]] = []  # of each norm in order: rows and weights
    norms = [
        module
        for layer in network.encoder.layer
        for module in (layer.attention.output.LayerNorm, layer.output.LayerNorm)
    ]
    hooks = [
        norm.register_forward_pre_hook(
            lambda module, given: scales.append(
                (
                    (given[0][0].double().var(-1, correction=0) + module.eps).rsqrt(),
                    module.weight.double(),
                )
            )
        )
        for norm in norms
    ]
    with torch.inference_mode():
        vector = network(torch.tensor([as_input(model, TEXT).ids]))[0][0].double().mean(0)
    for hook in hooks:
        hook.remove()
    parts = direct_parts(model, TEXT)
    for layer, stream in enumerate(_written(model, TEXT)):
        for scale, weight in scales[2 * layer :]:
            stream.sub_(stream.mean(-1, keepdim=True)).mul_(scale[:, None] * weight)
        expected = stream.mean(1) @ (vector / vector.norm())
        assert_same_pass(parts.heads[layer], expected.detach(), parts.value)


def test_the_class_of_an_image_is_taken_apart() -> None:
    model = loaded("bundled/vit-scenes")
    image = open_box(next(iter(BOX)))
    parts = direct_parts(model, image)
    assert model.classifier is not None
    assert parts.measure == "class"
    assert _total(parts) == pytest.approx(parts.value, abs=1e-4)
    without = direct_effects(model, image, "zero")
    np.testing.assert_allclose(without, parts.heads, atol=1e-5)


def test_nothing_comes_after_the_heads_of_a_planted_model_s_last_layer() -> None:
    model = loaded(PLANTED["induction"].folder)
    text = "the king met a dog , and then the king"
    direct, all_effects = (
        direct_effects(model, text, "zero", "logit_difference"),
        effects(model, text, "zero", "logit_difference", draws=0).values,
    )
    np.testing.assert_allclose(direct[1], all_effects[1], atol=1e-4)
    first = next(
        head.place[1] - 1
        for head in PLANTED["induction"].heads
        if head.needed and head.place[0] == 1
    )
    assert abs(direct[0, first]) < 0.01 * abs(all_effects[0, first])  # a head of layer 2 reads it


def test_what_is_not_followed_is_refused_and_what_is_not_linear_too(tmp_path: Path) -> None:
    build("squeezebert", tmp_path)  # its linear maps are convolutions
    model = load(str(tmp_path))
    for run in (direct_parts, direct_effects):
        with pytest.raises(UnsupportedModelError, match="does not add up"):
            run(model, TEXT)
    with pytest.raises(UnsupportedModelError, match="taken apart by 'kl'"):
        direct_parts(loaded("bundled/gpt2-novels"), TEXT, "kl")


def test_other_threads_see_the_model_as_it_is(model_of: ModelOf) -> None:
    model = model_of("llama")
    before = effects(model, TEXT, "zero", "sentence", draws=0).values
    found: list[np.ndarray] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(effects(model, TEXT, "zero", "sentence", draws=0).values)
        ),
        threading.Thread(target=lambda: direct_parts(model, TEXT, "sentence")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found[0], before)
    assert all(weight.grad is None for weight in model.network.parameters())


NORMS = ("norm", "norm_f", "ln_f", "final_layer_norm")


LENS_DAILY = {"gpt2", "llama", "mixtral", "dbrx"}


@pytest.mark.parametrize("kind", nightly(("gpt2", "llama", "gpt_neox", *MIXTURES), but=LENS_DAILY))
def test_after_each_layer_the_final_norm_reads_what_stands_there(kind: str, tmp_path: Path) -> None:
    build_causal(kind, tmp_path)
    model = load(str(tmp_path))
    network: Any = model.language_model
    norm = next(filter(None, (getattr(model.network, name, None) for name in NORMS)))
    probe = probe_of(model, TEXT, "logit_difference")
    with torch.inference_mode():
        output = network(**probe.inputs(1), output_hidden_states=True)
        whole = output.logits[0, probe.position].double().log_softmax(-1)
        head = network.get_output_embeddings()
        found = logit_lens(model, TEXT)
        assert found is not None
        assert len(found) == len(output.hidden_states)
        for lens, states in zip(found[:-1], output.hidden_states[:-1], strict=True):
            chances = head(norm(states[0, probe.position])).double().log_softmax(-1)
            order = chances.argsort(descending=True).tolist()
            texts = [model.tokenizer.decode([each]) for each in order]
            is_text = [each.strip().isprintable() and each not in {"", "\ufffd"} for each in texts]
            places = [place for place, text in enumerate(is_text) if text][:3]
            best = [order[place] for place in places]
            assert [each.id for each in lens.guesses] == best
            assert lens.passed_over == places[-1] - 2
            assert [each.probability for each in lens.guesses] == pytest.approx(
                chances[best].exp().tolist(), rel=1e-4
            )
            assert lens.kl == pytest.approx(
                float((whole.exp() * (whole - chances)).sum()), rel=1e-3
            )
            assert lens.probability == pytest.approx(float(chances[whole.argmax()].exp()), rel=1e-4)


def test_after_the_last_layer_it_is_what_the_model_says() -> None:
    model = loaded("bundled/gpt2-novels")
    found = logit_lens(model, TEXT)
    assert found is not None
    expected = [each.id for each in next_words(model, TEXT, count=3)]
    assert [each.id for each in found[-1].guesses] == expected
    assert found[-1].kl == 0
    assert logit_lens(loaded("bundled/minilm"), TEXT) is None
