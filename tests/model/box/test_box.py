"""The box of images: every name opens, drawn pictures are as drawn, licences are said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.model.box import BOX, open_box
from core.model.bundled.training.drawing.box import PICTURES

FOLDER = Path(__file__).parents[3] / "core" / "model" / "box"
DRAWN = [name for name, image in BOX.items() if image.group == "drawn"]


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


def test_the_drawn_pictures_are_what_their_generator_draws() -> None:
    """Another processor may round a step otherwise."""
    assert list(PICTURES) == DRAWN
    for name, draw in PICTURES.items():
        apart = np.abs(pixels(name).astype(int) - np.asarray(draw()))
        assert apart.max() <= 1, name


def test_files_are_small_and_each_belongs_to_an_entry() -> None:
    files = sorted([*FOLDER.glob("*.jpg"), *FOLDER.glob("*.png")])
    assert {path.stem for path in files} <= set(BOX)
    assert all(path.stat().st_size <= 80_000 for path in files)


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


@pytest.mark.slow
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
