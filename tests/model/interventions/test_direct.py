"""Direct effects and the logit lens against sums by hand over the weights."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from core.model import LoadedModel, effects, load
from core.model.errors import UnsupportedModelError
from core.model.interventions import direct
from core.model.interventions.direct import DirectParts, direct_effects, direct_parts, written_words
from core.model.interventions.lens import logit_lens
from core.model.interventions.probe import as_input, probe_of, whole_probe
from core.model.interventions.reference import outputs_of
from core.model.sample_images import open_sample_image
from core.model.weights.output_projection import output_projections
from tests.conftest import ModelOf
from tests.model.bundled import loaded
from tests.model.families import CAPTURED, SENTENCES, nightly
from tests.model.language.checkpoints import WITH_HEAD, build_with_head
from tests.model.planted import PLANTED
from tests.model.sweep.tiny import build, build_causal
from tests.rounding import assert_same_pass

TEXT = SENTENCES[1]
FOLLOWED = [each.name for each in CAPTURED if " " not in each.name]
WITH_WORDS = (
    *("gpt2", "llama", "gemma2", "bloom", "gpt_neox", "opt"),
    *("bert", "roberta", "distilbert", "modernbert"),
)
MIXTURES = (  # of experts, and networks of bare products
    *("mixtral", "qwen3_moe", "olmoe", "deepseek_v3", "dbrx", "granitemoe", "gpt_oss", "falcon"),
)
GATED = ("beam", "bailing_hybrid", "lfm3")  # between heads and W_O


def _total(parts: DirectParts) -> float:
    return float(np.nansum(parts.heads) + parts.layers.sum() + parts.embeddings + parts.biases)


def _written(model: LoadedModel, text: str) -> list[torch.Tensor]:
    """What the heads of each layer add to the residual stream, float64 (head, token, width)."""
    projections = output_projections(model)
    assert projections is not None
    outputs = outputs_of(whole_probe(model, as_input(model, text)))
    return [
        torch.einsum("thd,hdw->htw", output.double(), weight.double())
        for output, weight in zip(outputs, projections, strict=True)
    ]


def _run_with_scales(
    network: Any, model: LoadedModel, norms: Iterable[Any]
) -> tuple[Any, list[torch.Tensor]]:
    """What the network gives, and by what each norm multiplies, (token, width), in order."""
    scales: list[torch.Tensor] = []

    def scale_of(norm: Any, given: Any) -> None:
        deviation = (given[0][0].double().var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
        scales.append(norm.weight.double() / deviation)

    hooks = [norm.register_forward_pre_hook(scale_of) for norm in norms]
    with torch.inference_mode():
        output = network(torch.tensor([as_input(model, TEXT).ids]))
    for hook in hooks:
        hook.remove()
    return output, scales


def _centred(vectors: torch.Tensor) -> torch.Tensor:
    return vectors - vectors.mean(-1, keepdim=True)


def _texts_of(model: LoadedModel, order: torch.Tensor, *, blanks: bool) -> list[int]:
    """Those of these entries of the vocabulary that people can read."""
    texts = {each: model.tokenizer.decode([each]) for each in order.tolist()}
    return [
        each
        for each, text in texts.items()
        if text.strip().isprintable() and (text if blanks else text.strip()) not in {"", "\ufffd"}
    ]


@pytest.mark.parametrize("name", [*FOLLOWED, "t5", "bart"])
def test_parts_add_up_to_the_length_of_the_vector_of_a_sentence(
    name: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    parts = direct_parts(model, TEXT, "sentence")
    assert _total(parts) == pytest.approx(parts.value, abs=1e-5)
    with torch.inference_mode():
        network = model.network.get_encoder() if model.is_encoder_decoder else model.network
        vector = network(torch.tensor([as_input(model, TEXT).ids]))[0].double().mean(1)
    assert_same_pass(parts.value, float(vector.norm()))
    assert (direct_effects(model, TEXT, "zero", "sentence") > 0).all()


DAILY = {"gpt2", "llama", "gemma2", "bloom", "opt", "bert", "modernbert", "mixtral", "dbrx"}


@pytest.mark.parametrize("name", nightly((*WITH_WORDS, *MIXTURES, *GATED), but=DAILY))
def test_the_lead_of_a_word_is_taken_apart_and_a_head_that_is_zero_lacks_its_part(
    name: str, tmp_path: Path
) -> None:
    if name in (*MIXTURES, *GATED):
        build_causal(name, tmp_path)
    else:
        build_with_head(name, WITH_HEAD[name], tmp_path, stir=0.2)
    model = load(str(tmp_path))
    parts = direct_parts(model, TEXT, "logit_difference")
    assert (np.abs(parts.heads).max(axis=1) > 0).all()
    assert _total(parts) == pytest.approx(parts.value, abs=1e-4)
    without = direct_effects(model, TEXT, "zero", "logit_difference")
    np.testing.assert_allclose(without, parts.heads, atol=1e-4 * np.abs(parts.heads).max())


def test_so_is_the_class_of_an_image_and_of_a_text_through_its_pooler(tmp_path: Path) -> None:
    build_with_head("bert", "BertForSequenceClassification", tmp_path, stir=0.2)
    image = open_sample_image("three-shapes")
    for model, source in ((loaded("bundled/vit-scenes"), image), (load(str(tmp_path)), TEXT)):
        parts = direct_parts(model, source)
        assert parts.measure == "class"
        assert np.abs(parts.heads).max() > 0
        assert _total(parts) == pytest.approx(parts.value, abs=1e-4)
        np.testing.assert_allclose(direct_effects(model, source, "zero"), parts.heads, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "opt"])
def test_by_hand_through_the_final_norm_of_a_decoder(name: str, tmp_path: Path) -> None:
    settings = {"word_embed_proj_dim": 16} if name == "opt" else {}
    network: Any = build_with_head(name, WITH_HEAD[name], tmp_path, stir=0.2, **settings)
    model, words = load(str(tmp_path)), network.lm_head.weight.detach().double()
    if name == "opt":  # its head runs a part of its base, which ends in a matrix
        norm, end = network.model.decoder.final_layer_norm, network.model.decoder.project_out
        words = words @ end.weight.detach().double()
    else:
        norm = network.transformer.ln_f
    output, (scales,) = _run_with_scales(network, model, [norm])
    best, second = output.logits[0, -1].topk(2).indices.tolist()
    parts = direct_parts(model, TEXT, "logit_difference")
    for layer, written in enumerate(_written(model, TEXT)):
        moved = (_centred(written[:, -1]) * scales[-1]) @ words.T
        expected = moved[:, best] - moved[:, second]
        np.testing.assert_allclose(parts.heads[layer], expected.detach(), atol=1e-5)
        up, down = written_words(model, TEXT, layer, 1)
        of_head = _centred(moved[1]).detach()
        order = _texts_of(model, of_head.argsort(descending=True), blanks=False)
        assert [each.id for each in (*up, *down)] == [*order[:5], *order[:-6:-1]]
        assert_same_pass([each.logit for each in up], of_head[order[:5]])


def test_by_hand_through_the_gates_between_heads_and_what_multiplies_them(tmp_path: Path) -> None:
    build_causal("laguna", tmp_path)
    model = load(str(tmp_path))
    network: Any = model.language_model
    joins, norm = [each.self_attn.o_proj for each in network.model.layers], network.model.norm
    reads: dict[Any, torch.Tensor] = {}

    def note(module: Any, given: Any) -> None:
        reads[module] = given[0][0, -1]

    hooks = [each.register_forward_pre_hook(note) for each in (*joins, norm)]
    probe = probe_of(model, TEXT, "logit_difference")
    with torch.inference_mode():
        best, second = network(torch.tensor([probe.item.ids])).logits[0, -1].topk(2).indices
        for hook in hooks:
            hook.remove()
        lead = network.lm_head.weight[best] - network.lm_head.weight[second]
        lead = lead * norm.weight / reads[norm].square().mean().sqrt()
        expected = [(reads[each] * (lead @ each.weight)).view(model.heads, -1) for each in joins]
    heads = direct.parts_of(probe).heads
    np.testing.assert_allclose(heads, torch.stack(expected).sum(-1), atol=1e-4)


def test_control_characters_and_halves_of_characters_are_no_words() -> None:
    model = loaded("bundled/gpt2-novels")
    control, half, blank = "ą", "æ", "Ġ"  # how the vocabulary spells the bytes 05, E6 and 20
    order = [control, "Ġlady", half, "Ġvery", blank, "s"]
    part = torch.zeros(model.network.config.vocab_size)
    part[model.tokenizer.convert_tokens_to_ids(order)] = torch.arange(6.0, 0.0, -1.0)
    for sign, count, expected in (
        (1, 3, [("lady", 5), ("very", 3), ("s", 1)]),
        (-1, 2, [("lady", -5), ("very", -3)]),
    ):
        words = direct._most_moved(model, sign * part, count, sign)
        assert [(each.display, each.logit) for each in words] == expected


def test_by_hand_through_all_norms_after_a_head_of_an_encoder(model_of: ModelOf) -> None:
    model = model_of("bert")
    layers = model.network.encoder.layer
    norms = [n for each in layers for n in (each.attention.output.LayerNorm, each.output.LayerNorm)]
    output, scales = _run_with_scales(model.network, model, norms)
    vector = output[0][0].double().mean(0)
    parts = direct_parts(model, TEXT)
    for layer, written in enumerate(_written(model, TEXT)):
        ended = reduce(lambda stream, scale: _centred(stream) * scale, scales[2 * layer :], written)
        expected = ended.mean(1) @ (vector / vector.norm())
        assert_same_pass(parts.heads[layer], expected.detach(), parts.value)


def test_nothing_comes_after_the_heads_of_a_planted_model_s_last_layer() -> None:
    model = loaded(PLANTED["induction"].folder)
    asked: Any = (model, "the king met a dog , and then the king", "zero", "logit_difference")
    direct, found = direct_effects(*asked), effects(*asked, draws=0).values
    np.testing.assert_allclose(direct[1], found[1], atol=1e-4)
    layer, head = next(head.place for head in PLANTED["induction"].heads if head.needed)
    assert layer == 1  # a head of layer 2 reads it
    assert abs(direct[0, head - 1]) < 0.01 * abs(found[0, head - 1])


def test_what_is_not_followed_is_refused_and_what_is_not_linear_too(tmp_path: Path) -> None:
    build("squeezebert", tmp_path)  # its linear maps are convolutions
    model = load(str(tmp_path))
    for run in (direct_parts, direct_effects):
        with pytest.raises(UnsupportedModelError, match="does not add up"):
            run(model, TEXT)
    with pytest.raises(UnsupportedModelError, match="taken apart by 'kl'"):
        direct_parts(loaded("bundled/gpt2-novels"), TEXT, "kl")
    with pytest.raises(UnsupportedModelError, match="cannot be measured by 'logit_difference'"):
        logit_lens(loaded("bundled/minilm"), TEXT)


def test_other_threads_see_the_model_as_it_is(model_of: ModelOf) -> None:
    asked: Any = (model_of("llama"), TEXT, "zero", "sentence")
    before = effects(*asked, draws=0).values
    with ThreadPoolExecutor(2) as pool:
        pool.submit(direct_parts, model_of("llama"), TEXT, "sentence")
        found = pool.submit(effects, *asked, draws=0)
    np.testing.assert_array_equal(found.result().values, before)
    assert all(weight.grad is None for weight in model_of("llama").network.parameters())


LENS_DAILY = {"gpt2", "llama", "mixtral", "dbrx"}


@pytest.mark.parametrize("kind", nightly(("gpt2", "llama", "gpt_neox", *MIXTURES), but=LENS_DAILY))
def test_after_each_layer_the_final_norm_reads_what_stands_there(kind: str, tmp_path: Path) -> None:
    build_causal(kind, tmp_path)
    model = load(str(tmp_path))
    network: Any = model.language_model
    names = "norm", "norm_f", "ln_f", "final_layer_norm"
    norm = next(filter(None, (getattr(model.network, name, None) for name in names)))
    probe = probe_of(model, TEXT, "logit_difference")
    with torch.inference_mode():
        output = network(**probe.inputs(1), output_hidden_states=True)
        before = [norm(each[0, probe.position]) for each in output.hidden_states[:-1]]
        logits = [*map(network.get_output_embeddings(), before), output.logits[0, probe.position]]
        shares = [each.double().softmax(-1) for each in logits]
        found = logit_lens(model, TEXT)
        for lens, said in zip(found, shares, strict=True):
            order = said.argsort(descending=True)
            best = _texts_of(model, order, blanks=True)[:3]
            assert [each.id for each in lens.guesses] == best
            chances = [each.probability for each in lens.guesses]
            assert chances == pytest.approx(said[best].tolist(), rel=1e-4)
            assert lens.kl == pytest.approx(entropy(shares[-1], said), rel=1e-3)
