"""Resize, crop and normalise, against transformers' own image processors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from numpy.typing import NDArray
from PIL import Image

from core.model.errors import ImageError, UnsupportedModelError
from core.model.image.pixels import as_rgb, normalise, process
from core.model.image.settings import read_processing

OWN = (224, 224)
PROCESSORS = {
    "vit": transformers.ViTImageProcessorPil,
    "deit": transformers.DeiTImageProcessorPil,
    "beit": transformers.BeitImageProcessorPil,
    "siglip_vision_model": transformers.SiglipImageProcessorPil,
    "clip_vision_model": transformers.CLIPImageProcessorPil,
}
DINOV2 = {  # as published with facebook/dinov2-small
    "crop_size": {"height": 224, "width": 224},
    "do_center_crop": True,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
    "resample": 3,
    "size": {"shortest_edge": 256},
}
SHAPES = [(400, 300), (225, 517), (224, 224), (61, 97)]


def picture(height: int, width: int) -> Image.Image:
    """Smooth colours with noise, so that filters differ."""
    rows, columns = np.mgrid[:height, :width]
    noise = np.random.default_rng(height * width).integers(0, 60, (height, width))
    waves = [np.sin(rows / 9), np.cos(columns / 13), np.sin((rows + columns) / 17)]
    pixels = np.stack([90 + 90 * wave + noise for wave in waves], axis=-1)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def ours(settings: dict[str, Any], kind: str, given: Image.Image) -> NDArray[np.float32]:
    processing = read_processing(settings, kind, OWN)
    return normalise(process(given, processing, processing.crop), processing)


@pytest.mark.parametrize("kind", [*PROCESSORS, "dinov2"])
def test_pixels_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    """By the saved settings, or where the family alone decides without them."""
    processor = (
        PROCESSORS[kind]() if kind in PROCESSORS else transformers.CLIPImageProcessorPil(**DINOV2)
    )
    processor.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "preprocessor_config.json").read_text("utf-8"))
    usual = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}  # unlike the class of DeiT
    for shape in SHAPES:
        given = picture(*shape)
        theirs = processor(given, return_tensors="np")["pixel_values"][0]
        for each in (settings, usual if kind == "deit" else {}):
            np.testing.assert_allclose(ours(each, kind, given), theirs, atol=1e-5)


def test_an_oblong_size_is_covered_and_the_middle_cut_out() -> None:
    processing = read_processing(DINOV2 | {"size": {"shortest_edge": 224}}, "dinov2", OWN)
    given = picture(300, 300)
    resized = given.resize((448, 448), Image.Resampling.BICUBIC)
    np.testing.assert_array_equal(
        process(given, processing, (224, 448)), np.asarray(resized)[112 : 112 + 224]
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 10**9},
        {"size": {"height": 0, "width": 224}},
        {"size": {"shortest_edge": True}},
        {"crop_size": -1},
        {"image_mean": [0.5, 0.5]},
        {"image_mean": ["0.5"] * 3},
        {"image_std": [0.5, 0.0, 0.5]},
        {"image_std": [float("nan")] * 3},
        {"rescale_factor": float("inf")},
        {"rescale_factor": 0},
    ],
)
def test_settings_that_no_processor_can_have_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedModelError, match=r"image processor of .* has no usable"):
        read_processing(settings, "vit", OWN)


def test_what_is_no_image_is_refused() -> None:
    for shape, kind, problem in (
        ((4, 5), np.uint8, r"this array is uint8 \(4, 5\)"),
        ((4, 5, 3), np.float32, "this array is float32"),
        ((4, 5, 4), np.uint8, r"\(4, 5, 4\)"),
        ((2, 300, 3), np.uint8, "a strip of 300 x 2 pixels"),
    ):
        with pytest.raises(ImageError, match=problem):
            as_rgb(np.zeros(shape, dtype=kind))
