"""The box of images: every name opens, drawn pictures never change, licences are said."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.model.box import BOX, open_box

FOLDER = Path(__file__).parents[3] / "core" / "model" / "box"
DRAWN = [name for name, image in BOX.items() if image.group == "drawn"]
# Of the pixels at 1/8 of the size, in 32 steps: what another processor may round otherwise is lost.
DIGESTS = {
    "three-shapes": "ad0ac2ec878e82a9",
    "crowd": "e2f4b517b85f1fbf",
    "odd-one-out": "f119fa3a506938fe",
    "repeated-pair": "6b9f4cea60329bac",
    "same-hue": "3a5ee17753d39c50",
    "same-brightness": "85fd4f2666f2f3a6",
    "hue-wheel": "1c17ed7dd218ddc8",
    "brightness-ramp": "c9bc0652b140bec4",
    "hue-by-brightness": "45a9ea57e38504e3",
    "stripes": "3f0b34227a6f7898",
    "checks": "b0d24270b43a9e8e",
    "mosaic": "274a0aea627e3ced",
}


def pixels(name: str) -> np.ndarray:
    return np.asarray(open_box(name))


@pytest.mark.parametrize("name", BOX)
def test_every_picture_is_square_rgb_of_bounded_size(name: str) -> None:
    image = open_box(name)
    assert image.mode == "RGB"
    assert image.width == image.height
    assert 224 <= image.width <= 480
    assert BOX[name].name == name
    assert np.asarray(image).std() > 5  # it shows something


def test_the_box_holds_drawn_pictures_and_photographs() -> None:
    assert len(DRAWN) >= 8
    assert len(BOX) - len(DRAWN) >= 4


@pytest.mark.parametrize("name", BOX)
def test_every_picture_says_what_to_look_for_and_whose_it_is(name: str) -> None:
    image = BOX[name]
    assert image.title
    assert image.look_for[-1] in ".?"
    assert image.licence in {"MIT, as this project", "CC0 1.0", "public domain", "CC BY 2.0"}
    assert image.author
    assert bool(image.source) == (image.group == "photograph")


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_picture_is_the_same_every_time(name: str) -> None:
    coarse = pixels(name).reshape(60, 8, 60, 8, 3).mean(axis=(1, 3))
    digest = hashlib.sha256(np.rint(coarse / 8 + 0.25).astype(np.uint8).tobytes()).hexdigest()
    assert digest[:16] == DIGESTS[name]


def test_copies_are_small_and_each_belongs_to_an_entry() -> None:
    files = sorted(FOLDER.glob("*.jpg"))
    assert {path.stem for path in files} <= set(BOX)
    assert all(path.stat().st_size <= 20_000 for path in files)


def test_the_ramp_goes_from_black_to_white_and_the_wheel_keeps_its_brightness() -> None:
    ramp = pixels("brightness-ramp").astype(float)
    np.testing.assert_allclose(
        ramp[:, :, 0], np.broadcast_to(np.linspace(0, 255, 480), (480, 480)), atol=1
    )
    luma = pixels("hue-wheel") @ np.array((0.299, 0.587, 0.114))
    np.testing.assert_allclose(luma, 0.55 * 255, atol=1)


def test_the_mosaic_has_a_colour_for_every_patch() -> None:
    tiles = pixels("mosaic")[20::40, 20::40].reshape(-1, 3)
    assert len(np.unique(tiles, axis=0)) > 120


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        open_box("../secrets")


def test_opening_all_imports_no_heavy_package() -> None:
    code = (
        "import sys; from core.model.box import BOX, open_box;"
        "[open_box(name) for name in BOX];"
        "print(sorted({'torch', 'transformers', 'sklearn', 'skimage'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=FOLDER.parents[2],
    )
    assert done.stdout.strip() == "[]"
