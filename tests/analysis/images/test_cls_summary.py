"""All maps of what CLS sees, what is written of them in a table, and regions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.analysis.images import all_cls_maps, cls_table, read_region
from core.analysis.images.cls.region import Region, middle_region
from tests.analysis.images.pictures import picture, with_attention
from tests.analysis.traces import random_weights

PATCHES = picture(np.random.default_rng(3).random((3, 4, 3)))
SPECIALS = ("[CLS]", "[REG1]")
LAYERS, HEADS, COUNT = 2, 3, 12
WEIGHTS = random_weights(4, LAYERS, HEADS, COUNT + len(SPECIALS))
TRACE = with_attention(PATCHES, WEIGHTS, SPECIALS)
REGION = "r2c1-r3c2"
INSIDE = [4, 5, 8, 9]  # rows 2 and 3, columns 1 and 2 of a grid 4 wide


def test_the_mean_and_the_maximum_over_heads_stand_behind_the_heads() -> None:
    maps = all_cls_maps(TRACE)
    assert maps.by_head.shape == (LAYERS, HEADS + 2, 3, 4)
    assert (maps.heads, maps.exact, maps.source) == (HEADS, False, "CLS")
    for layer, patch in itertools.product(range(LAYERS), range(COUNT)):
        row, column = divmod(patch, 4)
        given = [float(WEIGHTS[layer, head, 0, 2 + patch]) for head in range(HEADS)]
        shown = maps.by_head[layer, :, row, column]
        np.testing.assert_allclose(shown, [*given, sum(given) / HEADS, max(given)], atol=1e-6)


def test_what_cls_keeps_and_what_patches_get_are_shares_of_its_row() -> None:
    maps = all_cls_maps(TRACE)
    np.testing.assert_allclose(maps.on_cls[:, :HEADS], WEIGHTS[..., 0, 0], atol=1e-6)
    np.testing.assert_allclose(
        maps.on_patches[:, HEADS], WEIGHTS[..., 0, 2:].sum(-1).mean(1), atol=1e-6
    )
    assert np.isnan(maps.on_patches[:, HEADS + 1]).all()
    without = all_cls_maps(with_attention(PATCHES, random_weights(5, 1, 1, COUNT), ()))
    assert without.source == "mean of patches"
    np.testing.assert_allclose([without.on_patches[0, 0], without.on_cls[0, 0]], [1, 0], atol=1e-6)


def test_the_table_has_a_row_for_every_map_with_its_share_on_the_region() -> None:
    table = cls_table(all_cls_maps(TRACE), 0.5, read_region(REGION, 3, 4))
    assert len(table) == LAYERS * (HEADS + 2) + 2
    assert list(table["head"][: HEADS + 2]) == ["1", "2", "3", "mean", "max"]
    assert list(table["head"][-2:]) == ["rollout", "weighted rollout"]
    for layer, head in itertools.product(range(LAYERS), range(HEADS)):
        row = table.iloc[layer * (HEADS + 2) + head]
        given = WEIGHTS[layer, head, 0, 2:].astype(np.float64)
        assert (row["layer"], row["head"]) == (layer + 1, str(head + 1))
        np.testing.assert_allclose(row["region_share"], given[INSIDE].sum() / given.sum(), 1e-5)
        fewest = 1 + int((np.cumsum(np.sort(given)[::-1]) < given.sum() / 2).sum())
        assert row["top_patches"] == fewest
        assert row["top_area"] == pytest.approx(fewest / COUNT)
    assert (table["region_area"] == len(INSIDE) / COUNT).all()
    assert "region_share" not in cls_table(all_cls_maps(TRACE), 0.5)


def test_a_region_is_read_with_its_corners_in_any_order() -> None:
    assert read_region(REGION, 3, 4) == Region(1, 0, 2, 1)
    assert read_region("r3c2-r2c1", 3, 4).name == REGION
    inside = read_region(REGION, 3, 4).on_grid(3, 4)
    assert list(np.flatnonzero(inside)) == INSIDE
    assert read_region(REGION, 3, 4).count == len(INSIDE)


@pytest.mark.parametrize("text", ["", "r1c1", "r0c1-r1c1", "r1c1-r4c1", "r1c1-r1c5", "r1c1-r1c1 "])
def test_what_is_no_region_of_the_grid_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not of the form|reaches beyond"):
        read_region(text, 3, 4)


def test_the_middle_is_a_quarter_of_an_even_grid() -> None:
    assert middle_region(8, 8) == Region(2, 2, 5, 5)
    assert middle_region(1, 2).count == 2
