"""Planes of many points: counts in cells, and a part of a plane as points or finer cells."""

from core.atlas.density.cells import Density, bounds_of, count_heads, join_bounds
from core.atlas.density.look import Look, Plane, look_at

__all__ = ["Density", "Look", "Plane", "bounds_of", "count_heads", "join_bounds", "look_at"]
