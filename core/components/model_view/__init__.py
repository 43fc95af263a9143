"""The model view: all heads as tiles, layers down, heads across."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.attention_table import side_of
from core.analysis.layers import place_layers
from core.analysis.model_map import ModelMap
from core.components.packing import pack, patch_sprite
from core.components.reported_state import as_index, as_mapping
from core.components.scripts import register_component
from core.model.trace import Trace

_model_view = register_component("model_view")

MAX_LINES = 500  # in a tile: about six per pixel of its height
MAX_ENLARGED_LINES = 2000  # in an enlarged tile


@dataclass(frozen=True)
class Appearance:
    """How the tiles are drawn.

    Attributes
    ----------
    draw : each weight as a line from query to key, or as a cell of a table.
    held : the layer and head, from 0, that other pages show; ringed here.
    """

    draw: Literal["lines", "tiles"] = "lines"
    held: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False)
class Marks:
    """A score per head, and which heads are highlighted.

    Attributes
    ----------
    name : what the score is called.
    scores : (layer, head); nan where it could not be measured.
    lit : boolean (layer, head); the others are dimmed, unless none is lit.
    closest : layer and head with the largest score, marked if none is lit.
    """

    name: str
    scores: NDArray[np.float64]
    lit: NDArray[np.bool_]
    closest: tuple[int, int]


def view_data(
    shown: ModelMap,
    trace: Trace,
    look: Appearance,
    marks: Marks | None = None,
    picture: Mapping[str, Any] | None = None,
) -> bytes:
    """What the component receives.

    Parameters
    ----------
    shown : from :func:`core.analysis.model_map.model_map`.
    trace : the one that it was made from.
    picture : the name and the facts of a saved picture.
    """
    (layers, heads, rows, columns), lines = shown.tiles.shape, place_layers(trace)
    settings = {
        "layers": layers,
        "layerLabels": trace.layer_labels,
        # Layers without attention: how many with attention come before, and their numbers.
        "gaps": [(sum(each < gap.place for each in lines.places), gap.name) for gap in lines.gaps],
        "heads": heads,
        "shape": {"rows": rows, "columns": columns},
        "block": shown.block,
        "patches": patch_sprite(trace),
        "rows": vars(side_of(trace.tokens, shown.rows)),
        "columns": vars(side_of(trace.key_tokens, shown.columns)),
        "lines": {"tile": MAX_LINES, "enlarged": MAX_ENLARGED_LINES},
        "draw": look.draw,
        "held": look.held[0] * heads + look.held[1],
        "picture": picture,
        "scoreName": "" if marks is None else marks.name,
        "closest": -1 if marks is None else marks.closest[0] * heads + marks.closest[1],
    }
    return pack(
        settings,
        tiles=shown.tiles,
        strongest=np.nan_to_num(shown.strongest),
        pairs=shown.pairs,
        lit=np.array(marks.lit if marks is not None and marks.lit.any() else [], dtype=np.uint8),
        score=np.array([] if marks is None else marks.scores),
    )


def show_model_view(data: bytes, layers: int, heads: int, *, key: str) -> tuple[int, int] | None:
    """Draw the grid; hovering never asks the server.

    Parameters
    ----------
    data : from :func:`view_data`, with this many `layers`, and `heads` per layer.

    Returns
    -------
    (layer, head), from 0, of a tile that was clicked in this run; None otherwise.
    """
    result = _model_view(key=key, data=data, on_open_change=lambda: None)
    opened = as_mapping(result.get("open"))
    layer, head = as_index(opened.get("layer"), layers), as_index(opened.get("head"), heads)
    return None if layer is None or head is None else (layer, head)
