"""What is measured on an atlas: colours, blocks and layouts."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.decomposition import PCA

from core.analysis.normalization import key_translation, normalize
from core.atlas import Atlas, build_atlas
from core.atlas.colours import (
    COLOURINGS,
    MAX_CATEGORIES,
    offered_colourings,
    point_tones,
)
from core.atlas.layouts import lay_out_head
from core.vocabulary import STAGES, Stage
from tests.atlas.corpora import corpus_of, read_words, trace_of

if TYPE_CHECKING:
    from collections.abc import Sequence


LENGTHS = (5, 9, 5, 2, 7)
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

OF_TEXTS = [name for name, one in COLOURINGS.items() if one.needs != "images"]


TEXTS = ("the cat , the END", "the … a", "cat")


def coloured(labels: Sequence[str] = ("good", "bad", "good")) -> Atlas:
    traces = [trace_of(read_words(text), seed) for seed, text in enumerate(TEXTS)]
    return build_atlas(traces, TEXTS, labels)


@pytest.mark.parametrize(
    ("name", "legend", "expected"),
    [
        (
            "position",
            ("first token", "last token"),
            [0, 1 / 5, 2 / 5, 3 / 5, 4 / 5, 1, 0, 1 / 3, 2 / 3, 1, 0, 1],
        ),
        (
            "position mod 5",
            tuple(f"{i}, {i + 5}, {i + 10} …" for i in range(1, 6)),
            [0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 0, 1],
        ),
        (
            "frequency",  # [CLS] and "the" three times, "cat" twice, all else once
            ("1×", "3×"),
            [1, 1, log(2) / log(3), 0, 1, 0, 1, 1, 0, 0, 1, log(2) / log(3)],
        ),
        ("special", ("text", "[CLS]"), [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]),
        ("label", ("good", "bad"), [*[0] * 6, *[1] * 4, 0, 0]),
        ("type", (), [0] * 12),
    ],
)
def test_colours_say_what_their_legend_says(
    name: str, legend: tuple[str, ...], expected: list[float]
) -> None:
    """A token's query and its key have one colour."""
    tones = point_tones(coloured(), name)
    np.testing.assert_allclose(tones.numbers, np.tile(expected, 2), atol=1e-12)
    assert tones.legend == legend
    usual = {"special": "category", "label": "category", "position mod 5": "category"}
    assert tones.scale == (usual | {"type": "type"}).get(name, "sequential")


def test_norms_run_along_the_ramp_within_each_head() -> None:
    """One long vector does not take the ramp from all others."""
    atlas = coloured()
    numbers = point_tones(atlas, "norm").numbers
    for layer, head in np.ndindex(2, 4):
        order = np.argsort(atlas.norms[layer, head])
        assert (np.diff(numbers[layer, head][order]) >= 0).all()
        assert numbers[layer, head][[order[0], order[-1]]].tolist() == [0, 1]
    norms = np.tile(np.linspace(1, 2, 200, dtype=np.float32), (2, 4, 1))
    norms[:, :, 150] = 1e6
    numbers = point_tones(replace(atlas, norms=norms), "norm").numbers
    assert np.abs(numbers[:, :, 100] - 0.5).max() < 0.05
    assert (numbers[:, :, 150] == 1).all()


def test_sentences_of_one_token_and_of_one_length_have_colours() -> None:
    atlas = build_atlas(corpus_of((1, 1)))
    atlas = replace(atlas, norms=np.ones_like(atlas.norms))
    for name in OF_TEXTS:
        if name != "label":
            assert np.isfinite(point_tones(atlas, name).numbers).all()


@pytest.mark.parametrize("many", [MAX_CATEGORIES, MAX_CATEGORIES + 1])
def test_what_is_rarer_than_the_commonest_labels_is_other(many: int) -> None:
    """Label k is on k + 1 sentences, so that the last one is the commonest."""
    labels = [f"label {k:02}" for k in range(many) for _ in range(k + 1)]
    atlas = build_atlas(
        corpus_of([2] * len(labels)), [f"w{i}x0" for i in range(len(labels))], labels
    )
    tones = point_tones(atlas, "label")
    commonest = [f"label {k:02}" for k in reversed(range(many))]
    if many <= MAX_CATEGORIES:
        assert tones.legend == tuple(commonest)
    else:
        assert tones.legend == (*commonest[: MAX_CATEGORIES - 1], "other")
    for i, sentence in enumerate(atlas.tokens.sentence):
        name = tones.legend[int(tones.numbers[i])]
        own = labels[sentence]
        assert name == (own if own in tones.legend else "other")


def test_labels_are_offered_where_there_are_any() -> None:
    assert offered_colourings(coloured()) == OF_TEXTS
    assert offered_colourings(coloured(())) == [name for name in OF_TEXTS if name != "label"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_layout_is_of_the_vectors_as_the_whole_corpus_moves_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which the atlas keeps those of as many tokens as a layout takes at most."""
    monkeypatch.setattr("core.atlas.engine.build.ONE_HEAD_TOKENS", 15)
    traces = corpus_of(LENGTHS, causal=True, window=3)
    atlas = build_atlas(traces)
    assert atlas.vectors is not None
    assert atlas.vectors.queries.shape[2] == atlas.vectors.tokens.size <= 15
    layout = lay_out_head(atlas, 1, 3, stage, "PCA", max_tokens=12)
    sentences = np.unique(atlas.tokens.sentence[layout.tokens])
    assert layout.tokens.size == sum(LENGTHS[i] for i in sentences) <= 12
    queries = np.vstack([trace.queries[1, 3] for trace in traces]).astype(np.float64)
    keys = np.vstack([trace.keys[1, 3] for trace in traces]).astype(np.float64)
    a = 0.0 if stage == "raw" else key_translation(queries, keys)
    c = float(atlas.c[1, 3]) if stage == "normalized" else 1.0
    moved = [each[layout.tokens] for each in normalize(queries, keys, a, c)]
    expected = PCA(n_components=2, svd_solver="full").fit_transform(np.vstack(moved))
    sign = np.sign((layout.points * expected).sum(axis=0))
    np.testing.assert_allclose(layout.points * sign, expected, atol=1e-5)


def test_an_atlas_without_vectors_cannot_be_laid_out_anew() -> None:
    bare = replace(build_atlas(corpus_of((4,))), vectors=None)
    with pytest.raises(ValueError, match="no vectors"):
        lay_out_head(bare, 0, 0, "raw", "PCA")
