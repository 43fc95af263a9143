"""Feature selectivity in images, as a map of heads by class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.layers import Rows
from core.figures.class_map import ClassLook, class_map
from core.figures.palette import Palette

# A letter for each class, so that colour is not all there is to read, and the category of the
# theme whose colour it has; a sixth has that of text. Green and pink stay queries and keys.
_LOOKS = {
    "hue": ("H", 3),
    "brightness": ("B", 1),
    "frequency": ("F", None),
    "position": ("P", 2),
    "itself": ("S", 0),
    "CLS": ("C", 4),
}
_SHARES = ("itself", "CLS")
_HOVER = "<br>correlation beyond the rest %{customdata[2]:.2f}"
_MASS = "<br>%{customdata[2]:.0f}\N{NO-BREAK SPACE}% of the attention of patches"


def follow_map(
    classes: NDArray[np.str_],
    strengths: NDArray[np.float64],
    rows: Rows,
    names: Mapping[str, str],
    colours: Palette,
) -> go.Figure:
    """Layers down, heads across, a square each by what it follows.

    `classes` and `strengths` are (layer, head): the correlation that decided, or the share of
    attention. The legend keeps the order of `names`, which people read.
    """
    looks = {}
    for each, name in names.items():
        letter, category = _LOOKS.get(each, ("", None))
        plain = colours.ink if letter else colours.line
        colour = plain if category is None else colours.categories[category]
        hover = _MASS if each in _SHARES else _HOVER
        looks[each] = ClassLook(name, letter, colour, hover, is_pale=not letter)
    shown = np.where(np.isin(classes, _SHARES), 100 * strengths, strengths)
    return class_map(classes, shown, rows, looks, colours)
