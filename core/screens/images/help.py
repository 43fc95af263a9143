"""What the page of patches says: how to read it, examples for its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.images.marks import head_marks
from core.analysis.layers import head_name
from core.screens.images.sending import sends_all
from core.screens.images.state import FREE
from core.ui.presets import Preset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.analysis.arrays import Floats
    from core.model import Trace


def explain(trace: Trace, view: Mapping[str, Any]) -> str:
    """How to read the picture, true for what is on the screen."""
    if view["direction"] == "from":
        reading = (
            "The framed patch is the query; the pinker a patch, the more of the query's attention"
            " it gets."
        )
    else:
        reading = (
            "The framed patch is the key; the greener a patch, the more of its own attention it"
            " gives to the key."
        )
    scale = (
        "Full colour is the largest weight on a patch, written beside the scale; each small"
        " picture has a scale of its own."
    )
    exact = "Numbers are exact: the browser works them out from queries and keys."
    sentences = [reading, scale, exact]
    if view["arrows"] != "none":
        sentences.append(
            "Arrows stand alone until you point at a patch: a square is an arrow to CLS, a diamond"
            " one to a register, a circle one to the patch itself."
        )
    if view["only_patches"]:
        sentences.append("Each row is divided by what it gives to patches.")
    if view["head"] == "max":
        sentences.append("Each weight is the largest that any head of the layer gives.")
    if not sends_all(trace):
        sentences.append(
            f"Only layer {view['layer']} is in the browser; pictures of the other layers show the"
            " patch that is held, in 255 steps."
        )
    return " ".join(sentences)


def mathematics(trace: Trace) -> str:
    """The definitions behind the picture."""
    grid = trace.patches
    size = "" if grid is None else f" of {grid.size} by {grid.size} pixels"
    biased = any(rule.biased for rule in trace.layers)
    bias = " + b^h_{ij}" if biased else ""
    told = " $b$ is what this model adds for the relative places of patches." if biased else ""
    return rf"""
The image is cut into patches{size}, and each becomes a token. In head $h$ patch $i$ gives token $j$
the attention

$$
a^h_{{ij}} = \exp\bigl(z^h_{{ij}} - L^h_i\bigr),
\qquad
z^h_{{ij}} = s \, \langle q^h_i, k^h_j \rangle{bias},
\qquad
L^h_i = \log \sum_{{j'}} e^{{z^h_{{ij'}}}} .
$$

*What it attends to* is a row, $a_{{i\cdot}}$, which adds up to 1 over all tokens, CLS and
registers included. *What attends to it* is a column, $a_{{\cdot j}}$, which adds up to anything: 1
is the mean over keys.{told} The browser gets $q$, $k$ and $L$, so a row or a column costs one dot
product and one exponential a token, and no matrix of attention is ever sent.

*Only patches* divides each row by what it gives to patches, $J$:
$\; a_{{ij}} / \sum_{{j' \in J}} a_{{ij'}}$, so that rows compare whatever CLS and registers take.
*Mean* and *maximum* over heads are taken after that, weight by weight.
"""


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this image; heads are measured, not listed."""
    marks = head_marks(trace)
    colour, itself = _strongest(marks.colour), _strongest(marks.itself)
    presets = [
        Preset(
            "Like colours",
            f"{head_name(trace, *colour)} attends to patches of like colour more than any other"
            f" head: those it attends to, of all at least three patches away, are"
            f" {_percent(marks.colour[colour])} nearer in colour than patches are on average.",
            _state(trace, *colour),
        ),
        Preset(
            "To itself",
            f"In {head_name(trace, *itself)} a patch gives {marks.itself[itself]:.2f} of its"
            " attention to itself, more than in any other head: circles are arrows that stay.",
            _state(trace, *itself, arrows="strongest"),
        ),
    ]
    if marks.cls is not None:
        resting = _strongest(marks.cls)
        presets.append(
            Preset(
                "Resting on CLS",
                f"In {head_name(trace, *resting)} patches give CLS {marks.cls[resting]:.2f} of"
                " their attention on average, more than in any other head.",
                _state(trace, *resting, patch="cls", direction="to"),
            )
        )
    presets.append(
        Preset(
            "Strongest arrows",
            f"From each patch to its strongest key, in {head_name(trace, *colour)}.",
            _state(trace, *colour, arrows="strongest"),
        )
    )
    return presets


def _strongest(scores: Floats) -> tuple[int, int]:
    """The layer and the head (from 0) with the largest score (layer, head)."""
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _state(trace: Trace, layer: int, head: int, **changes: str) -> dict[str, Any]:
    """The page's whole state, at first for this head (from 0) except for `changes`."""
    first = {"patch": FREE, "direction": "from", "arrows": "none", "only_patches": False}
    return {"layer": str(trace.numbers[layer]), "head": str(head + 1)} | first | changes
