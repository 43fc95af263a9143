"""What the vector grid says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.vectors import CLOSE_ANGLE, MIN_COSINE
from core.figures.vectors import MANY
from core.ui.messages import quote
from core.ui.presets import Preset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.vectors import Planes, Source, Summary
    from core.model import Trace

_NOTES = {
    "all layers": "The two numbers are the shares of the variance that the plane keeps. Directions"
    " mean nothing across layers unless you align them.",
    "one layer": "The camera in the chart's bar saves a picture.",
    "play": "Each layer is turned and mirrored, but not stretched, to match the one before.",
}
_MANY_TOKENS = (
    " Of so many tokens only the longest arrows are named and in full colour: point at another one"
    " to read it, or pick tokens."
)
MATHEMATICS = r"""
Let $A^{(\ell)}$ be the token × token table of layer $\ell$, its heads summarised (mean, median,
maximum, or one of them), special tokens left out of rows and columns. Its rows are centred,
$\tilde a_i = a_i - \bar a$, and written in the two orthogonal directions $u_1, u_2$ in which they
vary most (principal component analysis):

$$
x_i = \bigl(\langle \tilde a_i, u_1\rangle,\ \langle \tilde a_i, u_2\rangle\bigr),
\qquad
\text{share kept} = \frac{\sigma_1^2 + \sigma_2^2}{\sum_k \sigma_k^2},
\qquad
X \leftarrow \frac{X}{\lVert X \rVert_F} \ \text{when normalised.}
$$

The sign of each component is arbitrary. *Align layers* turns each plane onto the one before by the
orthogonal matrix $R$ that minimises $\lVert X^{(\ell)} R - X^{(\ell-1)} \rVert_F$ (Procrustes); no
distance changes.

Two tokens that **attend in the same way** point the same way. That is not the same as meaning the
same, and the reverse need not hold: a plane that keeps 60 % of the variance hides the other 40 %,
in which two arrows that coincide may part. The caption counts how many do.
"""


def set_picks(positions: Sequence[int], chosen: Sequence[int]) -> None:
    """Pick the tokens of the `chosen` arrows; `positions` has the token of each arrow shown."""
    st.session_state["pick"] = [positions[index] + 1 for index in chosen]


def describe_close_pairs(planes: Planes, layer: int | None) -> str:
    """How far arrows side by side can be believed, counted in the `layer` shown, or in all."""
    close, similar = (
        int(counts.sum() if layer is None else counts[layer])
        for counts in (planes.close_pairs, planes.similar_pairs)
    )
    degrees = round(np.degrees(CLOSE_ANGLE))
    if not close:
        return f"No two arrows are within {degrees}° of each other."
    place = " in a plane" if layer is None else ""
    return (
        f"Of {close:,} pairs of arrows within {degrees}° of each other{place}"
        f" **{similar:,}** are similar in full space too (cosine {MIN_COSINE:g} or more)."
    )


def too_few(labels: Sequence[str]) -> str:
    """Why fewer than two tokens have no planes, and what to do (Markdown)."""
    if not labels:
        return "This text has only special tokens. Turn on *Keep special tokens* to see them."
    return (
        f"This page shows which tokens attend alike, and {quote(labels[0])} is alone: type at least"
        " two words, or turn on *Keep special tokens*."
    )


def explain(
    source: Source,
    summary: Summary,
    heads: Sequence[int],
    *,
    view: str,
    special: bool,
    tokens: int = 0,
) -> str:
    """How to read the planes, true for what is drawn; `heads` as the page's picker gives them.

    `tokens` is how many arrows share the planes while none is picked.
    """
    subset = f" {', '.join(str(head + 1) for head in heads)}" if heads else ""
    one_head = f"head {summary + 1}" if isinstance(summary, int) else None
    if source == "attention":
        drawn = (
            "Each arrow is a token's row of the attention table"
            f" ({one_head or f'{summary} over heads{subset}'}"
            f"{', special tokens kept' if special else ''}), reduced to two dimensions. Tokens that"
            " attend alike point the same way; the reverse need not hold, as a plane keeps only a"
            " part."
        )
    elif source == "hidden states":
        drawn = (
            "Each arrow is the hidden state a token brings into the layer: what the layer sees,"
            " whichever head is chosen."
        )
    else:
        together = f"heads{subset} together" if heads else "all heads together"
        drawn = f"Each arrow is a token's {source} of {one_head or together}."
    return f"{drawn} {_NOTES[view]}{_MANY_TOKENS if tokens > MANY else ''}"


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing, each with what it shows."""
    return [
        Preset(
            "All heads together",
            "Mean attention of all heads, special tokens dropped, planes normalised (Shoemaker"
            " 2024).",
            _state(trace),
        ),
        Preset(
            "Follow a token",
            "Layers aligned: watch which words move together, and where they part.",
            _state(trace, align=True),
        ),
        Preset(
            "What attention sees",
            "Hidden states instead of attention rows: tokens of one kind lie together here even"
            " where they attend differently.",
            _state(trace, draw="hidden states", align=True),
        ),
        Preset(
            "The last layer, large",
            "One plane with room for every label, and a camera to save it.",
            _state(trace, show="one layer", layer=str(trace.numbers[-1])),
        ),
        Preset(
            "Play", "From the first layer to the last in one plane.", _state(trace, show="play")
        ),
    ]


def _state(trace: Trace, **changes: str | bool) -> dict[str, str | bool | list[int]]:
    return {
        "of": [],
        "show": "all layers",
        "draw": "attention",
        "layer": str(trace.numbers[0]),
        "head": "mean",
        "align": False,
        "special": False,
        "norm": True,
        "space": False,
        "scale": False,
        **changes,
    }
