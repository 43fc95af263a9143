"""What one run of the atlas page shows, and the controls that all of its parts share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.atlas.colours import offered_colourings, point_tones
from core.figures.shades import shades
from core.screens.atlas.layouts import PROJECTIONS, STAGES
from core.screens.atlas.wording import COLOURINGS
from core.ui import controls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas, Matches
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage
    from core.screens.atlas.shelf import AtlasShelf

AS_THEY_ARE: tuple[Projection, Stage] = ("PCA", "raw")  # where no part asks for others


@dataclass(frozen=True, eq=False)
class Found:
    """What was found, and how it is spread in each head's plane of components, (layer, head)."""

    query: str
    matches: Matches
    spread: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Screen:
    """One run.

    Attributes
    ----------
    shelf : where the atlas stands, with its layouts.
    layer, head : from 0.
    found : what the search found; None where none is on.
    """

    shelf: AtlasShelf
    atlas: Atlas
    layer: int
    head: int
    projection: Projection
    stage: Stage
    colour: str = "type"
    found: Found | None = None

    @property
    def name(self) -> str:
        """The head on screen, as people write it."""
        return f"L{self.layer + 1} H{self.head + 1}"


def pick_projection(atlas: Atlas) -> tuple[Projection, Stage]:
    """How points are projected, and what was done to the vectors before."""
    able = PROJECTIONS if atlas.vectors is not None else PROJECTIONS[:1]
    projection = controls.choice(
        "projection",
        able,
        "Projection",
        subject="The projections are" if atlas.vectors is not None else "A saved atlas keeps",
        menu=True,
        width=115,
        help="PCA is exact and of all tokens. UMAP and t-SNE are slow: all heads follow in the"
        " background, from 500 tokens; one head alone is laid out from 2,500."
        + ("" if atlas.vectors is not None else " A saved atlas keeps PCA only."),
    )
    stage = controls.choice(
        "stage",
        list(STAGES),
        "Vectors",
        subject="The stages are",
        menu=True,
        width=135,
        help="As they are; keys moved so that the centroids meet; or also scaled by the head's"
        " c. Attention is the same in all three, unless a model soft-caps its scores.",
    )
    return projection, stage


def pick_colour(atlas: Atlas) -> str:
    """What colours stand for."""
    return controls.choice(
        "colour",
        offered_colourings(atlas),
        "Colour by",
        subject="The colours are",
        default="type",
        names=COLOURINGS.__getitem__,
        menu=True,
        width=170,
    )


def open_head(layer: int, head: int, part: str = "one") -> None:
    """Show a head alone; for callbacks."""
    st.session_state.update(layer=str(layer + 1), head=str(head + 1), part=part)


def token_data(screen: Screen, tokens: NDArray[np.intp]) -> dict[str, Any]:
    """What the matrix and the cloud are both told of the tokens that they draw."""
    atlas, columns = screen.atlas, screen.atlas.tokens
    tones = point_tones(atlas, screen.colour)
    sentences, index = np.unique(columns.sentence[tokens], return_inverse=True)
    found = screen.found
    return {
        "colouring": tones.colouring,
        "legend": tones.legend,
        "shades": shades(tones.colouring, len(tones.legend)),
        "labels": [columns.displays[i] for i in tokens],
        "positions": columns.position[tokens].tolist(),
        "sentence": index.tolist(),
        "texts": [atlas.sentences[i] for i in sentences],
        "matches": found.matches.tokens[tokens] if found else np.zeros(tokens.size, dtype=np.bool_),
        "searching": found is not None,
    }
