"""The box of images: every name opens, licences are said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.model.sample_images import BOX, open_box

FOLDER = Path(__file__).parents[2] / "core" / "model" / "sample_images"


@pytest.mark.parametrize("name", BOX)
def test_a_picture_is_square_rgb_of_bounded_size_and_says_whose_it_is(name: str) -> None:
    image = open_box(name)
    assert image.mode == "RGB"
    assert image.width == image.height
    assert 224 <= image.width <= 480
    assert BOX[name].name == name
    assert np.asarray(image).std() > 5  # it shows something
    record = BOX[name]
    assert record.title
    assert record.look_for[-1] in ".?"
    assert record.licence in {"MIT, as this project", "CC0 1.0", "public domain", "CC BY 2.0"}
    assert record.author
    assert bool(record.source) == (record.group == "photograph")


def test_no_file_is_large_or_without_an_entry_and_an_unknown_name_is_refused() -> None:
    files = [*FOLDER.glob("*.jpg"), *FOLDER.glob("*.png")]
    assert {path.stem for path in files} <= set(BOX)
    assert all(path.stat().st_size <= 80_000 for path in files)
    with pytest.raises(KeyError):
        open_box("../secrets")
