"""Planes of many points: counts in cells, and a part of a plane as points or finer cells."""

from core.analysis.atlas.density.cells import CELLS, bounds_of, count_cells, join_bounds
from core.analysis.atlas.density.look import Look, Plane, look_at

__all__ = ["CELLS", "Look", "Plane", "bounds_of", "count_cells", "join_bounds", "look_at"]
