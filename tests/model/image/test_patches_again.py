"""The very pixels that a model had, run again: the same numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import ModelError, load, trace_image, trace_patches
from tests.model.image.families import FAMILIES, SIDE, build, image, write_processor
from tests.rounding import assert_same_shares

if TYPE_CHECKING:
    from pathlib import Path


def test_pixels_that_a_model_had_are_neither_resized_nor_cropped_again(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    crop = {"height": SIDE, "width": SIDE}
    write_processor(tmp_path, size={"shortest_edge": 32}, crop_size=crop, do_center_crop=True)
    model = load(str(tmp_path))
    first = trace_image(model, image(50, 70))
    assert first.patches is not None
    again = trace_patches(model, first.patches)
    assert again.patches is first.patches
    assert_same_shares(again.attention(), first.attention(), first)
    seen_as_new = trace_image(model, first.patches.pixels)
    assert not np.allclose(seen_as_new.attention(), first.attention(), atol=1e-3)


def test_pixels_of_another_model_are_refused(tmp_path: Path) -> None:
    build(FAMILIES["siglip"], tmp_path / "own")
    build(FAMILIES["siglip"], tmp_path / "other", patch_size=6)
    own, other = load(str(tmp_path / "own")), load(str(tmp_path / "other"))
    patches = trace_image(other, image()).patches
    assert patches is not None
    with pytest.raises(ModelError, match="4 x 4 patches"):
        trace_patches(own, patches)
    with pytest.raises(ModelError):
        trace_patches(own, replace(patches, pixels=image(SIDE + 1, SIDE + 1).copy()))
