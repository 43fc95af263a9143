"""Effects of the bundled models, recomputed by surgery and by the definitions of the measures."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine
from scipy.stats import entropy

from core.corpus.sample import sample_sentences
from core.model import effects, load
from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import compared_with_chance, replacements
from core.model.interventions.measures import measures_of
from core.model.interventions.probe import as_input, probe_of, whole_probe
from core.model.interventions.reference import (
    outputs_of,
    reference_samples,
    reference_texts,
    samples_of,
)
from core.model.sample_images import SAMPLE_IMAGES, open_sample_image
from tests.model.bundled import loaded
from tests.model.families import SENTENCES
from tests.model.interventions.surgery import before_and_after, without_heads
from tests.model.language.checkpoints import build_with_head
from tests.pages.vision import model_folder
from tests.rounding import assert_same_pass, rounding_of

TEXT = "The young lady was very happy to see her"
BOOK = "Oh, this book? I've enjoyed it."


def test_zeroing_a_head_of_a_decoder_changes_what_surgery_changes() -> None:
    gpt2, asked = loaded("bundled/gpt2-novels"), ("kl", "loss", "logit_difference")
    found = [effects(gpt2, TEXT, "zero", measure, draws=0) for measure in asked]  # type: ignore[arg-type]
    ids = torch.tensor([as_input(gpt2, TEXT).ids])
    for place in ((0, 0), (1, 2), (3, 3)):
        inputs = {"input_ids": ids, "labels": ids}
        passes = before_and_after(gpt2, place, inputs, gpt2.language_model)
        before, after = (each.logits[0, -1].double() for each in passes)
        first, second = (before - after)[before.topk(2).indices]
        expected = [
            entropy(before.softmax(0), after.softmax(0)),
            float(passes[1].loss - passes[0].loss),
            float(first - second),
        ]
        values = [each.values[place] for each in found]
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-5)


def test_zeroing_a_head_of_a_vision_transformer_lowers_its_class_or_turns_its_cls() -> None:
    vit, image = loaded("bundled/vit-scenes"), open_sample_image("three-shapes")
    found = effects(vit, image, "zero", draws=0)
    passes = before_and_after(vit, (4, 1), probe_of(vit, image).inputs(1), vit.classifier)
    before, after = (each.logits[0].double() for each in passes)
    best = int(before.argmax())
    assert (found.measure, found.unit, found.words) == ("class", "logits", (vit.labels[best],))
    assert measures_of(vit) == ("class",)
    expected = float(before[best] - after[best])
    assert found.values[4, 1] == pytest.approx(expected, rel=1e-3, abs=1e-5)
    plain = load(model_folder("vit"))
    found = effects(plain, image, "zero", draws=0)
    passes = before_and_after(plain, (1, 1), probe_of(plain, image).inputs(1))
    vectors = (each.last_hidden_state[0, 0].double() for each in passes)
    assert found.unit == "1 − cosine of the CLS vector"
    assert found.values[1, 1] == pytest.approx(cosine(*vectors), rel=1e-3)


def test_a_masked_model_is_measured_at_its_mask_or_at_the_last_word_hidden(tmp_path: Path) -> None:
    network = build_with_head("bert", "BertForMaskedLM", tmp_path, stir=0.3)
    bert, text = load(str(tmp_path)), SENTENCES[0]
    found = effects(bert, text, "zero", "kl", draws=0)
    item = as_input(bert, text)
    place = max(at for at, token in enumerate(item.tokens) if token.display[0].isalnum())
    assert (found.position, found.is_masked) == (place, True)
    hidden = torch.tensor([item.ids])
    hidden[0, place] = bert.tokenizer.mask_token_id  # type: ignore[assignment]
    passes = before_and_after(bert, (1, 1), {"input_ids": hidden}, network)
    chances = (each.logits[0, place].double().softmax(0) for each in passes)
    assert found.values[1, 1] == pytest.approx(entropy(*chances), rel=1e-3, abs=1e-6)
    typed = effects(bert, "The [MASK] sat on the mat.", "zero", "logit_difference", draws=0)
    assert (typed.position, typed.is_masked, len(typed.words)) == (2, False, 2)


def test_the_mean_is_over_all_tokens_of_the_reference() -> None:
    minilm, layer, head = loaded("bundled/minilm"), 3, 1
    two = ("It rains.", "Where is it?")
    outputs = [each.outputs[layer][:, head] for each in reference_samples(minilm, two)]
    assert minilm.outputs is not None
    name = minilm.outputs[layer]
    weight = minilm.network.get_submodule(name).weight[:, head * 32 : (head + 1) * 32]
    cut = without_heads(minilm, (layer, head))
    cut.get_submodule(name).bias.data += (weight @ torch.cat(outputs).mean(0)).detach()
    ids = torch.tensor([as_input(minilm, BOOK).ids])
    with torch.inference_mode():
        vectors = [each(ids)[0][0].double().mean(0) for each in (minilm.network, cut)]
    found = effects(minilm, BOOK, "mean", reference=two, draws=0)
    assert found.values[layer, head] == pytest.approx(cosine(*vectors), rel=1e-3)


def test_a_text_resampled_from_itself_changes_nothing() -> None:
    found = effects(loaded("bundled/minilm"), BOOK, "resample", reference=(BOOK,), draws=2)
    assert np.abs(found.values).max() < rounding_of(1)  # one cosine less another
    assert np.abs(found.control).max() < rounding_of(1)


def test_no_text_is_resampled_from_itself_however_it_is_cut_or_typed() -> None:
    minilm = loaded("bundled/minilm")
    text, other = sorted(reference_texts(), key=len)[-2:]
    one: Any = {"heads": [(3, 1)], "draws": 0}
    for written, cut in ((text, None), (text, 6), (f" {text.upper()} ", None)):
        found, expected = (
            effects(minilm, written, "resample", reference=each, max_tokens=cut, **one).values[3, 1]
            for each in ((text, other), (other,))
        )
        assert found == expected
        assert found > rounding_of(1)


def test_no_image_of_the_reference_is_resampled_from_itself() -> None:
    vit = loaded("bundled/vit-scenes")
    for name in SAMPLE_IMAGES:
        source = np.asarray(open_sample_image(name))
        own, given = replacements(probe_of(vit, source), source, "resample")
        assert all((a - b).norm() > b.norm() / 10 for a, b in zip(given, own, strict=True))


def test_the_reference_is_plain_text_and_runs_once_a_network_however_it_is_recorded() -> None:
    minilm, texts = loaded("bundled/minilm"), reference_texts()
    assert len(texts) == 48
    assert set(texts) <= set(sample_sentences())
    exact = dataclasses.replace(minilm, way="exact")
    assert minilm.way == "fast"
    assert reference_samples(exact) is reference_samples(minilm)
    own = outputs_of(whole_probe(exact, as_input(exact, texts[7])))
    for mine, kept in zip(own, reference_samples(exact)[7].outputs, strict=True):
        assert_same_pass(mine, kept)


def test_the_control_moves_a_head_as_far_as_the_replacement_and_is_the_largest_draw() -> None:
    gpt2 = loaded("bundled/gpt2-novels")
    found, again, other = (
        effects(gpt2, TEXT, "mean", "sentence", draws=3, seed=seed) for seed in (0, 0, 1)
    )
    assert found.draws.shape == (3, 4, 4)
    assert np.array_equal(found.control, np.abs(found.draws).max(axis=0))
    assert (found.draws > 0).all()
    assert np.array_equal(found.draws, again.draws)
    assert not np.array_equal(found.draws, other.draws)


def test_what_cannot_be_measured_so_is_refused() -> None:
    minilm = loaded("bundled/minilm")
    assert measures_of(minilm) == ("sentence",)
    with pytest.raises(UnsupportedModelError, match="cannot be measured by 'kl'") as refusal:
        effects(minilm, BOOK, measure="kl")
    assert "'sentence'" in refusal.value.advice


def test_samples_are_the_sentences_of_the_reference_or_all_images() -> None:
    gpt2, vit = loaded("bundled/gpt2-novels"), loaded("bundled/vit-scenes")
    assert samples_of(gpt2) == reference_texts()
    shown = [open_sample_image(name) for name in SAMPLE_IMAGES]
    assert samples_of(vit) == shown
    assert compared_with_chance(reference_texts()) == reference_texts()[::3]
    assert compared_with_chance(shown) == shown[:16]
