"""Effects on each sample of the corpus: which samples, and each with directions of its own."""

from __future__ import annotations

import numpy as np

from core.model import effects, load
from core.model.box import BOX, open_box
from core.model.interventions.reference import reference_texts
from core.model.interventions.samples import compared_with_chance, sample_effects, samples_of
from tests.rounding import assert_same_pass


def test_the_samples_are_the_sentences_of_the_reference_or_all_images() -> None:
    gpt2, vit = load("bundled/gpt2-novels"), load("bundled/vit-scenes")
    assert samples_of(gpt2) == reference_texts()
    assert samples_of(vit) == tuple(BOX)
    assert compared_with_chance(gpt2) == range(0, 48, 3)
    assert compared_with_chance(vit) == range(16)


def test_an_effect_is_that_of_the_sample_with_the_same_directions_on_all() -> None:
    gpt2 = load("bundled/gpt2-novels")
    for place in (3, 8):
        found = sample_effects(gpt2, place, "zero", "loss", draws=2)
        expected = effects(gpt2, samples_of(gpt2)[place], "zero", "loss", draws=2)
        assert np.array_equal(found.values, expected.values)
        assert np.array_equal(found.draws, expected.draws)


def test_an_image_is_a_sample_too() -> None:
    vit, name = load("bundled/vit-scenes"), list(BOX)[1]
    found = sample_effects(vit, 1, "zero")
    expected = effects(vit, open_box(name), "zero", draws=0)
    assert_same_pass(found.values, expected.values, 1)
