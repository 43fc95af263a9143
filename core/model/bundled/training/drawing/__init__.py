"""Drawn pictures: scenes of coloured shapes and mosaics, the same for the same seed. NumPy only."""

from core.model.bundled.training.drawing.mosaic import draw_mosaic
from core.model.bundled.training.drawing.paint import HUES, Paint
from core.model.bundled.training.drawing.random_scene import random_scene
from core.model.bundled.training.drawing.scene import Ground, Scene, Thing, compose
from core.model.bundled.training.drawing.shapes import SHAPES
from core.model.bundled.training.drawing.textures import TEXTURES

__all__ = [
    "HUES",
    "SHAPES",
    "TEXTURES",
    "Ground",
    "Paint",
    "Scene",
    "Thing",
    "compose",
    "draw_mosaic",
    "random_scene",
]
