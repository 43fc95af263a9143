"""Atlases of images: patches, their looks, searches and files, against loops written apart."""

from __future__ import annotations

import colorsys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.analysis.images.colour import HUES, oklab
from core.atlas import Atlas, build_atlas
from core.atlas.colours import offered_colourings, point_tones
from core.atlas.source import SearchError, search_patches
from core.records import RecordError
from tests.analysis.pictures import confetti, image_trace
from tests.atlas.files import assert_same, forged, opened, written

if TYPE_CHECKING:
    from core.model.trace import Patches, Trace

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
