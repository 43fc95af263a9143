"""Effects on each sample of the corpus: which samples, and each with directions of its own."""

from __future__ import annotations

import numpy as np

from core.model import effects, load
from core.model.box import BOX, open_box
from core.model.interventions.reference import reference_texts
from core.model.interventions.samples import sample_effects, samples_of


def test_the_samples_are_sixteen_sentences_of_the_reference_or_all_images() -> None:
    texts = samples_of(load("bundled/gpt2-novels"))
    assert len(set(texts)) == 16
    assert set(texts) < set(reference_texts())
    assert samples_of(load("bundled/vit-scenes")) == tuple(BOX)
    assert len(BOX) >= 16


def test_an_effect_is_that_of_the_sample_with_other_directions_each() -> None:
    gpt2 = load("bundled/gpt2-novels")
    found = sample_effects(gpt2, 3, "zero", "loss")
    expected = effects(gpt2, samples_of(gpt2)[3], "zero", "loss", seed=3)
    assert np.array_equal(found.values, expected.values)
    assert np.array_equal(found.draws, expected.draws)
    assert not np.array_equal(found.draws, effects(gpt2, samples_of(gpt2)[3], "zero", "loss").draws)


def test_an_image_is_a_sample_too() -> None:
    vit, name = load("bundled/vit-scenes"), list(BOX)[1]
    found = sample_effects(vit, 1, "zero")
    expected = effects(vit, open_box(name), "zero", draws=0)  # in batches of other sizes
    np.testing.assert_allclose(found.values, expected.values, atol=1e-5)
