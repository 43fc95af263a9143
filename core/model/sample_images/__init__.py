"""Sample images: pictures that come with the app, by name. No torch, no network.

>>> open_sample_image("three-shapes").size
(480, 480)
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from PIL import Image

__all__ = ["SAMPLE_IMAGES", "SampleImage", "open_sample_image"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class SampleImage:
    """A picture that comes with the app: a record of ``images.toml``.

    Attributes
    ----------
    name : what a link carries.
    title : the name in words.
    group : whether the project drew it or somebody photographed it.
    look_for : one sentence, what to look for.
    licence, author, source : under which licence, by whom, and where it was published.
    of_scikit_learn : whether scikit-learn ships it; otherwise it lies next to this module.
    """

    name: str
    title: str
    group: Literal["drawn", "photograph"]
    look_for: str
    licence: str = "MIT, as this project"
    author: str = "Headscope"
    source: str = ""
    of_scikit_learn: bool = False


_RECORDS = tomllib.loads((_FOLDER / "images.toml").read_text("utf-8"))["images"]
SAMPLE_IMAGES: Mapping[str, SampleImage] = MappingProxyType(
    {record["name"]: SampleImage(**record) for record in _RECORDS}
)


def open_sample_image(name: str) -> Image.Image:
    """The picture of that name, RGB and square, the same every time.

    Raises
    ------
    KeyError
        When `SAMPLE_IMAGES` has no such name.
    """
    if SAMPLE_IMAGES[name].of_scikit_learn:
        return _open_of_scikit_learn(name)
    ending = "png" if SAMPLE_IMAGES[name].group == "drawn" else "jpg"
    with Image.open(_FOLDER / f"{name}.{ending}") as image:
        return image.convert("RGB")


def _open_of_scikit_learn(name: str) -> Image.Image:
    """The central (427, 427) of a photograph that scikit-learn ships, without importing it."""
    package = importlib.util.find_spec("sklearn")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("scikit-learn is not installed; it carries this photograph.")
    folder = Path(package.submodule_search_locations[0]) / "datasets" / "images"
    with Image.open(folder / f"{name}.jpg") as image:
        side, left = image.height, (image.width - image.height) // 2
        return image.crop((left, 0, left + side, side)).convert("RGB")
