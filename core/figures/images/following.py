"""Feature selectivity in images, as a map of heads by class."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.layers import Rows
from core.figures.class_map import ClassLook, class_map
from core.figures.palette import Palette

# A letter for each feature, so that colour is not all there is to read, and the category of the
# theme whose colour it has. Green and pink stay queries and keys.
_LOOKS = {"hue": ("H", 3), "brightness": ("B", 1), "edges": ("E", 0), "place": ("P", 2)}
_HOVER = "<br>rank correlation %{customdata[2]:.2f}"


def follow_map(
    classes: NDArray[np.str_], strengths: NDArray[np.float64], rows: Rows, colours: Palette
) -> go.Figure:
    """Layers down, heads across, a cell each by what it follows.

    `classes`, a feature or "none", and `strengths`, the highest correlation, are (layer, head).
    """
    looks = {
        name: ClassLook(name, letter, colours.categories[category], _HOVER)
        for name, (letter, category) in _LOOKS.items()
    }
    looks["none"] = ClassLook("none of these", "", colours.line, _HOVER)
    return class_map(classes, strengths, rows, looks, colours)
