"""The sample images that the project drew: `core.model.bundled.training.drawing.box`."""

from __future__ import annotations

from functools import partial

from core.model.box.entry import BoxImage, stored


def _drawn(name: str, title: str, look_for: str) -> BoxImage:
    licence, author = "MIT, as this project", "Headscope"
    return BoxImage(
        name, title, "drawn", look_for, licence, author, "", partial(stored, f"{name}.png")
    )


DRAWN = (
    _drawn(
        "three-shapes",
        "Three shapes",
        "Which heads of [CLS] cover all three shapes, and which one of them?",
    ),
    _drawn(
        "crowd",
        "A crowd of shapes",
        "Pick a shape: do its patches find the others of its colour?",
    ),
    _drawn(
        "odd-one-out",
        "One odd one out",
        "Fifteen circles and one square of another hue: who attends to it?",
    ),
    _drawn(
        "repeated-pair",
        "The same pair twice",
        "The same two shapes, above on the left and below on the right: which heads join them?",
    ),
    _drawn(
        "same-hue",
        "One hue, many brightnesses",
        "Heads that go by hue see nine like things here; heads that go by brightness do not.",
    ),
    _drawn(
        "same-brightness",
        "One brightness, many hues",
        "Heads that go by brightness see nine like things here; heads that go by hue do not.",
    ),
    _drawn(
        "hue-wheel",
        "A hue wheel",
        "A head that follows hue attends along a ray, and not to the opposite side.",
    ),
    _drawn(
        "brightness-ramp",
        "A ramp of brightness",
        "A head that follows brightness attends to its own column, whatever the row.",
    ),
    _drawn(
        "hue-by-brightness",
        "Hue across, brightness down",
        "Columns share a hue and rows a brightness: which of the two does a head keep to?",
    ),
    _drawn(
        "stripes",
        "Stripes of six hues",
        "Each hue comes twice: does a stripe attend to the other one of its hue?",
    ),
    _drawn(
        "checks",
        "A checkered board",
        "Two paints in turn: near patches are unlike, and far ones may be alike.",
    ),
    _drawn(
        "mosaic",
        "A mosaic of 144 colours",
        "Neighbours have nothing in common, so a head that finds like patches goes by colour.",
    ),
)
