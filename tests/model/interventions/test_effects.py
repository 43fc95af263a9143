"""Effects of the bundled models, recomputed by surgery and by the definitions of the measures."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.corpus.sample import sample_sentences
from core.model import effects, load
from core.model.errors import WrongInputError
from core.model.image.forward import image_inputs
from core.model.interventions.direct import direct_effects
from core.model.interventions.heads import (
    compared_with_chance,
    replacements,
    sample_effects,
    samples_of,
)
from core.model.interventions.measures import measures_of
from core.model.interventions.probe import as_input, probe_of
from core.model.interventions.reference import (
    head_outputs,
    reference_samples,
    reference_texts,
)
from core.model.sample_images import BOX, open_box
from tests.model.bundled import loaded
from tests.model.families import SENTENCES
from tests.model.interventions.surgery import without_heads
from tests.model.language.checkpoints import build_with_head
from tests.rounding import assert_same_pass, rounding_of

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "The young lady was very happy to see her"
BOOK = "Oh, this book? I've enjoyed it."


def test_the_reference_is_plain_text_of_the_sample_corpus() -> None:
    texts = reference_texts()
    assert len(texts) == 48
    assert set(texts) <= set(sample_sentences())


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("kl", None),
        ("loss", None),
        ("logit_difference", None),
        ("logit_difference", ("father", "mother")),  # compared after their blank
    ],
)
def test_zeroing_a_head_of_a_decoder_changes_what_surgery_changes(
    measure: Any, words: tuple[str, str] | None
) -> None:
    gpt2 = loaded("bundled/gpt2-novels")
    found = effects(gpt2, TEXT, "zero", measure, words=words, draws=0)
    assert words in {None, found.words}
    ids, whole = torch.tensor([as_input(gpt2, TEXT).ids]), gpt2.language_model
    assert whole is not None
    with torch.inference_mode():
        before = whole(ids).logits[0].double()
        for place in ((0, 0), (1, 2), (3, 3)):
            after = without_heads(gpt2, place, whole=whole)(ids).logits[0].double()
            if measure == "kl":
                expected = torch.nn.functional.kl_div(
                    after[-1].log_softmax(0),
                    before[-1].log_softmax(0),
                    log_target=True,
                    reduction="sum",
                )
            elif measure == "loss":
                losses = [
                    torch.nn.functional.cross_entropy(each[:-1], ids[0, 1:])
                    for each in (before, after)
                ]
                expected = losses[1] - losses[0]
            else:
                first, second = (
                    gpt2.tokenizer.convert_tokens_to_ids([f"Ġ{word}" for word in words])
                    if words
                    else before[-1].topk(2).indices
                )
                leads = [each[-1, first] - each[-1, second] for each in (before, after)]
                expected = leads[0] - leads[1]
            assert found.values[place] == pytest.approx(float(expected), rel=1e-3, abs=1e-5)


def test_the_mean_is_over_all_tokens_of_the_reference() -> None:
    minilm, layer, head = loaded("bundled/minilm"), 3, 1
    two = ("It rains.", "Where is it?")
    outputs = [each.outputs[layer][:, head] for each in reference_samples(minilm, two)]
    mean = torch.cat(outputs).mean(0)
    assert minilm.outputs is not None
    weight = minilm.network.get_submodule(minilm.outputs[layer]).weight[
        :, head * 32 : (head + 1) * 32
    ]
    cut = without_heads(minilm, (layer, head))
    cut.get_submodule(minilm.outputs[layer]).bias.data += (weight @ mean).detach()
    ids = torch.tensor([as_input(minilm, BOOK).ids])
    with torch.inference_mode():
        before = minilm.network(ids)[0][0].double().mean(0)
        after = cut(ids)[0][0].double().mean(0)
    expected = 1 - torch.nn.functional.cosine_similarity(before, after, dim=0)
    found = effects(minilm, BOOK, "mean", reference=two, draws=0)
    assert found.values[layer, head] == pytest.approx(float(expected), rel=1e-3)


def test_a_text_resampled_from_itself_changes_nothing() -> None:
    found = effects(loaded("bundled/minilm"), BOOK, "resample", reference=(BOOK,), draws=2)
    assert np.abs(found.values).max() < rounding_of(1)  # one cosine less another
    assert np.abs(found.control).max() < rounding_of(1)


def test_no_text_of_the_reference_is_resampled_from_itself() -> None:
    gpt2, texts = loaded("bundled/gpt2-novels"), reference_texts()
    for text in texts[::16]:
        probe = probe_of(gpt2, text)
        own, given = replacements(probe, text, "resample")
        others = [each for each in texts if each != text]
        _, expected = replacements(probe, text, "resample", others)
        for one, another, layer in zip(given, expected, own, strict=True):
            assert torch.equal(one, another)
            assert (one - layer).norm() > layer.norm() / 10


def test_a_text_that_is_cut_or_typed_otherwise_is_the_same_text_of_the_reference() -> None:
    minilm = loaded("bundled/minilm")
    text, other = sorted(reference_texts(), key=len)[-2:]
    for written, tokens in ((text, 6), (f" {text.upper()} ", None)):
        found = effects(
            minilm, written, "resample", reference=(text, other), max_tokens=tokens, draws=0
        )
        expected = effects(
            minilm, written, "resample", reference=(other,), max_tokens=tokens, draws=0
        )
        assert np.array_equal(found.values, expected.values)


def test_no_image_of_the_reference_is_resampled_from_itself() -> None:
    vit = loaded("bundled/vit-scenes")
    for name in BOX:
        source = np.asarray(open_box(name))
        own, given = replacements(probe_of(vit, source), source, "resample")
        assert all((a - b).norm() > b.norm() / 10 for a, b in zip(given, own, strict=True))
    alone = direct_effects(vit, open_box("three-shapes"), "resample", heads=[(0, 0)])
    assert alone[0, 0] == pytest.approx(0.0116, abs=5e-5)


def test_the_reference_runs_once_a_network_whichever_way_it_is_recorded() -> None:
    minilm = loaded("bundled/minilm")
    exact = dataclasses.replace(minilm, way="exact")
    assert minilm.way == "fast"
    assert reference_samples(exact) is reference_samples(minilm)
    text = reference_texts()[7]
    own = head_outputs(exact, as_input(exact, text))
    for mine, kept in zip(own, reference_samples(exact)[7].outputs, strict=True):
        assert_same_pass(mine, kept)


def test_the_control_moves_a_head_as_far_as_the_replacement_and_is_the_largest_draw() -> None:
    gpt2 = loaded("bundled/gpt2-novels")
    found, again = (effects(gpt2, TEXT, "mean", "sentence", draws=3) for _ in range(2))
    assert found.draws.shape == (3, 4, 4)
    assert np.array_equal(found.control, np.abs(found.draws).max(axis=0))
    assert (found.draws > 0).all()
    assert np.array_equal(found.draws, again.draws)
    other = effects(gpt2, TEXT, "mean", "sentence", draws=3, seed=1)
    assert not np.array_equal(found.draws, other.draws)


def test_the_logit_of_the_likeliest_class_falls_as_after_surgery() -> None:
    vit, image = loaded("bundled/vit-scenes"), open_box("three-shapes")
    found = effects(vit, image, "zero", draws=0)
    assert set(found.words) < set(vit.vision.labels)  # type: ignore[union-attr]
    assert measures_of(vit) == ("class",)
    assert found.unit == "logits"
    whole: Any = vit.classifier
    inputs = image_inputs(whole, vit.vision, [as_input(vit, image).patches.pixels])  # type: ignore[arg-type, union-attr]
    with torch.inference_mode():
        before = whole(**inputs).logits[0].double()
        after = without_heads(vit, (4, 1), whole=whole)(**inputs).logits[0].double()
    best = int(before.argmax())
    expected = float(before[best] - after[best])
    assert found.values[4, 1] == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_a_masked_model_is_measured_at_its_mask_or_at_the_last_word_hidden(tmp_path: Path) -> None:
    network = build_with_head("bert", "BertForMaskedLM", tmp_path, stir=0.3)
    bert, text = load(str(tmp_path)), SENTENCES[0]
    ids = as_input(bert, text).ids
    found = effects(bert, text, "zero", "kl", draws=0)
    names = [token.display for token in as_input(bert, text).tokens]
    assert found.is_masked
    assert found.position is not None
    assert names[found.position] == [name for name in names if name[0].isalnum()][-1]
    hidden = list(ids)
    hidden[found.position] = bert.tokenizer.mask_token_id  # type: ignore[call-overload]
    cut = without_heads(bert, (1, 1), whole=network)
    with torch.inference_mode():
        before, after = (
            each(torch.tensor([hidden])).logits[0, found.position].double().log_softmax(0)
            for each in (network, cut)
        )
    expected = float((before.exp() * (before - after)).sum())
    assert found.values[1, 1] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    typed = effects(bert, "The [MASK] sat on the mat.", "zero", "logit_difference", draws=0)
    assert not typed.is_masked
    assert typed.position == 2
    assert len(typed.words) == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"words": ("qqzx", "mother")}, "'qqzx' is not one token"),
        ({"words": ("mother", "mother")}, "the same token"),
        ({"words": ("a", "b"), "measure": "kl"}, "have a lead"),
    ],
)
def test_words_are_two_tokens_and_belong_to_their_measure(
    options: dict[str, Any], reason: str
) -> None:
    given = {"measure": "logit_difference"} | options
    with pytest.raises(WrongInputError, match=reason):
        effects(loaded("bundled/gpt2-novels"), TEXT, draws=0, **given)


def test_the_samples_are_the_sentences_of_the_reference_or_all_images() -> None:
    gpt2, vit = loaded("bundled/gpt2-novels"), loaded("bundled/vit-scenes")
    assert samples_of(gpt2) == reference_texts()
    assert samples_of(vit) == tuple(BOX)
    assert compared_with_chance(gpt2) == range(0, 48, 3)
    assert compared_with_chance(vit) == range(16)


def test_an_effect_is_that_of_the_sample_with_the_same_directions_on_all() -> None:
    gpt2 = loaded("bundled/gpt2-novels")
    for place in (3, 8):
        found = sample_effects(gpt2, place, "zero", "loss", draws=2)
        expected = effects(gpt2, samples_of(gpt2)[place], "zero", "loss", draws=2)
        assert np.array_equal(found.values, expected.values)
        assert np.array_equal(found.draws, expected.draws)


def test_an_image_is_a_sample_too() -> None:
    vit, name = loaded("bundled/vit-scenes"), list(BOX)[1]
    found = sample_effects(vit, 1, "zero")
    expected = effects(vit, open_box(name), "zero", draws=0)
    assert_same_pass(found.values, expected.values, 1)
