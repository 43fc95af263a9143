"""What is made of an atlas: colours of texts and of images, and layouts."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from core.analysis.images.colour import HUES, oklab
from core.analysis.normalization import key_translation, normalize
from core.atlas import Atlas, build_atlas
from core.atlas.colours import (
    COLOURINGS,
    MAX_CATEGORIES,
    offered_colourings,
    point_tones,
)
from core.atlas.layouts import lay_out_head
from core.atlas.source import SearchError, search_patches
from core.model.trace import Patches, Trace
from core.records import RecordError
from core.vocabulary import STAGES, Stage
from tests.analysis.pictures import confetti, image_trace
from tests.atlas.files import assert_same, corpus_of, forged, opened, read_words, trace_of, written

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


ROWS, COLUMNS, FIRST = 3, 4, 2
NAMES = ("cat", "red flower", "blue flower")


def traced(seed: int) -> Trace:
    patches = confetti(seed, ROWS, COLUMNS)
    draw = np.random.default_rng(seed)
    shape = (2, 2, FIRST + ROWS * COLUMNS, 5)
    specials = ("[CLS]", "[REG1]")
    return image_trace(patches, draw.normal(size=shape), draw.normal(size=shape), None, specials)


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [traced(seed) for seed in range(3)]


@pytest.fixture(scope="module")
def atlas(traces: list[Trace]) -> Atlas:
    return build_atlas(traces, NAMES)


def patches_of(trace: Trace) -> Patches:
    assert trace.patches is not None
    return trace.patches


def test_an_atlas_of_images_has_their_names_and_pixels(atlas: Atlas, traces: list[Trace]) -> None:
    assert atlas.sentences == NAMES
    assert len(atlas.tokens) == 3 * (FIRST + ROWS * COLUMNS)
    assert atlas.images is not None
    for index, trace in enumerate(traces):
        np.testing.assert_array_equal(atlas.images.pixels[index], patches_of(trace).pixels)
        again = atlas.images.of_image(index)
        np.testing.assert_array_equal(again.cells, patches_of(trace).cells)
        assert (again.rows, again.columns, again.first) == (ROWS, COLUMNS, FIRST)


def test_images_of_two_sizes_are_no_atlas(traces: list[Trace]) -> None:
    other = replace(traces[0], patches=replace(patches_of(traces[0]), first=1))
    with pytest.raises(ValueError, match="one size and one grid"):
        build_atlas([traces[1], other])


def test_colours_stand_for_the_patch_of_each_token(atlas: Atlas, traces: list[Trace]) -> None:
    tones = {name: point_tones(atlas, name).numbers for name in offered_colourings(atlas)}
    assert {"hue", "brightness", "row", "column", "norm"} <= tones.keys()
    assert not {"frequency", "position", "label"} & tones.keys()
    size = FIRST + ROWS * COLUMNS
    for index, trace in enumerate(traces):
        colours = patches_of(trace).pixels[::4, ::4].reshape(-1, 3) / 255  # one colour a patch
        for token in trace.tokens:
            both = [index * size + token.position, (3 + index) * size + token.position]
            seen = {name: tones[name][both] for name in ("hue", "brightness", "row", "column")}
            if token.special:
                assert seen.pop("hue").tolist() == [len(HUES)] * 2  # none
                assert all(np.isnan(values).all() for values in seen.values())
                continue
            lab = oklab(colours[[token.row * COLUMNS + token.column]])[0]
            degrees = np.degrees(np.arctan2(lab[2], lab[1])) % 360
            away = {name: abs((degrees - at + 180) % 360 - 180) for name, at in HUES.items()}
            assert list(HUES)[int(seen["hue"][0])] == min(away, key=away.__getitem__)
            np.testing.assert_allclose(seen["brightness"], lab[0], atol=1e-6)
            np.testing.assert_allclose(seen["row"], token.row / (ROWS - 1))
            np.testing.assert_allclose(seen["column"], token.column / (COLUMNS - 1))


def test_the_colours_that_people_name_have_those_names() -> None:
    named = {"red": 0, "yellow": 1 / 6, "green": 1 / 3, "cyan": 1 / 2, "blue": 2 / 3}
    for name, hue in named.items():
        lab = oklab(np.array([colorsys.hsv_to_rgb(hue, 1, 1)]))[0]
        degrees = np.degrees(np.arctan2(lab[2], lab[1])) % 360
        assert min(HUES, key=lambda each: abs(HUES[each] - degrees)) == name


def test_patches_are_found_by_image(atlas: Atlas) -> None:
    grid = [f"r{r}c{c}" for r in range(1, ROWS + 1) for c in range(1, COLUMNS + 1)]
    for query, images in (("CAT", [0]), ("flower", [1, 2])):
        matches = search_patches(atlas, query)
        assert matches.sentences == len(images)
        assert matches.count == len(matches.indices)
        assert [atlas.tokens.displays[i] for i in matches.indices] == grid * len(images)
        assert set(atlas.tokens.sentence[matches.indices].tolist()) == set(images)
    with pytest.raises(SearchError, match="Type what"):
        search_patches(atlas, " ")


def test_a_saved_atlas_of_images_opens_with_its_pixels(atlas: Atlas) -> None:
    assert_same(opened(written(atlas)).images, atlas.images)


@pytest.mark.parametrize("grid", [{"size": 0}, {"size": 5}, {"first": 1}, {"size": "4"}, "grid"])
def test_a_grid_that_the_tokens_do_not_fill_is_refused(atlas: Atlas, grid: object) -> None:
    def change(_: object, content: dict[str, Any]) -> None:
        content["images"] = content["images"] | grid if isinstance(grid, dict) else grid

    with pytest.raises(RecordError, match="images"):
        opened(forged(written(atlas), change))
