"""Drawn pictures: scenes of coloured shapes and mosaics, the same for the same seed. NumPy only."""

from core.model.scenes.mosaic import draw_mosaic
from core.model.scenes.paint import HUES, Paint
from core.model.scenes.random_scene import random_scene
from core.model.scenes.scene import Ground, Scene, Thing, compose
from core.model.scenes.shapes import SHAPES
from core.model.scenes.textures import TEXTURES

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
