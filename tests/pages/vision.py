"""Tiny random models of images that pages are opened with, and images to bring."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.model import Trace, load, trace_image
from core.model.sample_images import open_sample_image
from tests.model.image.families import FAMILIES, build, write_processor
from tests.opening import open_app

KINDS = ("vit", "dinov2_with_registers", "siglip")  # with CLS, with registers too, with neither
_SIDE, _PATCH = 32, 4  # pixels: 8 x 8 patches


@cache
def model_folder(kind: str = "vit") -> str:
    """A model of that family, saved once a run."""
    folder = Path(mkdtemp(prefix="vision-")) / kind
    build(FAMILIES[kind], folder, image_size=_SIDE, patch_size=_PATCH)
    write_processor(folder, size={"height": _SIDE, "width": _SIDE})
    return str(folder)


@cache
def image_trace(kind: str = "vit") -> Trace:
    """That model's trace of the image that pages begin with."""
    return trace_image(
        load(model_folder(kind), modality="image"), open_sample_image("three-shapes")
    )


def open_image(page: str, kind: str = "vit", **parameters: str) -> AppTest:
    """Open a page on an image, as a visitor who follows a link."""
    return open_app(page, **({"input": "image", "model": model_folder(kind)} | parameters))


def png(colour: tuple[int, int, int] = (200, 30, 30), side: int = 40) -> bytes:
    """A picture of one colour with a white corner."""
    pixels = np.full((side, side, 3), colour, dtype=np.uint8)
    pixels[: side // 4, : side // 4] = 255
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def bring(app: AppTest, data: bytes, name: str = "mine.png") -> AppTest:
    """Choose a file of one's own."""
    uploader = app.file_uploader(key="image_file")
    return uploader.set_value((name, data, "image/png")).run()
