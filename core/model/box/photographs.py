"""The sample photographs: two of scikit-learn's, and small copies of four of scikit-image's.

scikit-image itself would bring 30 MB and three more packages for what is 50 kB here.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

from PIL import Image

from core.model.box.entry import BoxImage, stored

CC0 = "CC0 1.0"
PUBLIC_DOMAIN = "public domain"
CC_BY = "CC BY 2.0"


def _of_scikit_learn(name: str) -> Image.Image:
    """The middle of a photograph that scikit-learn carries, (427, 427), without importing it."""
    package = importlib.util.find_spec("sklearn")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("scikit-learn is not installed; it carries this photograph.")
    folder = Path(package.submodule_search_locations[0]) / "datasets" / "images"
    with Image.open(folder / f"{name}.jpg") as image:
        side, left = image.height, (image.width - image.height) // 2
        return image.crop((left, 0, left + side, side)).convert("RGB")


PHOTOGRAPHS = (
    BoxImage(
        "china",
        "Photograph: a palace in Beijing",
        "photograph",
        "Do patches of sky find one another, and those of the roofs?",
        CC_BY,
        "danielbuechele",
        "https://www.flickr.com/photos/danielbuechele/6061409035/ (scikit-learn; its middle)",
        partial(_of_scikit_learn, "china"),
    ),
    BoxImage(
        "flower",
        "Photograph: a flower",
        "photograph",
        "One thing before a blurred ground: does [CLS] attend to it?",
        CC_BY,
        "vultilion",
        "https://www.flickr.com/photos/vultilion/6056698931/ (scikit-learn; its middle)",
        partial(_of_scikit_learn, "flower"),
    ),
    BoxImage(
        "astronaut",
        "Photograph: Eileen Collins, astronaut",
        "photograph",
        "Orange of the suit, white and blue of the flag: which heads go by hue?",
        PUBLIC_DOMAIN,
        "NASA",
        "NASA Great Images, https://flic.kr/p/r9qvLn (scikit-image; its upper left, 256 pixels)",
        partial(stored, "astronaut.jpg"),
    ),
    BoxImage(
        "cat",
        "Photograph: a cat",
        "photograph",
        "Two eyes that look alike, far from each other in the grid.",
        CC0,
        "Stéfan van der Walt",
        "“chelsea” of scikit-image (its middle, 256 pixels)",
        partial(stored, "cat.jpg"),
    ),
    BoxImage(
        "coffee",
        "Photograph: a cup of coffee",
        "photograph",
        "Nearly one hue: what is left to go by is brightness.",
        CC0,
        "Rachel Michetti, Pikolo Espresso Bar",
        "“coffee” of scikit-image (its middle, 256 pixels)",
        partial(stored, "coffee.jpg"),
    ),
    BoxImage(
        "rocket",
        "Photograph: a rocket at night",
        "photograph",
        "A thin bright thing before a smooth dark sky: where do the sky's patches look?",
        PUBLIC_DOMAIN,
        "SpaceX",
        "https://www.flickr.com/photos/spacexphotos/16511594820/ (scikit-image; its middle, 256"
        " pixels)",
        partial(stored, "rocket.jpg"),
    ),
)
