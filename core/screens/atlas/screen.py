"""What one run of the atlas page shows, and the controls that its parts share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.atlas.colours import COLOURINGS, offered_colourings, point_tones
from core.analysis.layers import head_name
from core.figures.shades import shades
from core.screens.atlas.wording import PROJECTIONS, STAGES
from core.ui import controls
from core.ui.selectors import choose_head, step_through_heads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas, Matches
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage
    from core.screens.atlas.shelf import AtlasShelf

open_head = partial(choose_head, part="one")
DEFAULT: tuple[Projection, Stage] = ("PCA", "raw")
SIZES, LABELS, LINES = "sizes", "labels", "top2"
_SWITCHES = {  # default, label, help
    SIZES: (False, "Size by norm", "The longer a query or key in the model, the larger its dot."),
    LABELS: (True, "Labels", "Tokens beside points. Hovering over a point names it anyway."),
    LINES: (
        True,
        "Attention lines",
        "In the clicked sentence, from each query to its top 2 keys.",
    ),
}


@dataclass(frozen=True, eq=False)
class Search:
    """A search, its matches, and their dispersion in each head's plane, (layer, head)."""

    query: str
    matches: Matches
    spread: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Screen:
    """One run.

    Attributes
    ----------
    shelf : holds the atlas and its layouts.
    layer, head : from 0.
    search : the search and its matches; None without one.
    """

    shelf: AtlasShelf
    atlas: Atlas
    layer: int
    head: int
    projection: Projection = "PCA"
    stage: Stage = "raw"
    colour: str = "type"
    search: Search | None = None

    @property
    def name(self) -> str:
        """The head on screen, as people write it."""
        return head_name(self.atlas, self.layer, self.head)


def pick_projection(atlas: Atlas) -> tuple[Projection, Stage]:
    """How points are projected, and what is done to the vectors first."""
    saved = atlas.vectors is None
    projection = controls.choice(
        "projection",
        PROJECTIONS[:1] if saved else PROJECTIONS,
        "Projection",
        subject="A saved atlas offers" if saved else "The projections are",
        menu=True,
        width=115,
        help="PCA is exact and uses all tokens. UMAP and t-SNE are slow: all heads follow in the"
        " background, from 500 tokens each; one head alone is laid out from 2,500."
        + (" A saved atlas has PCA only." if saved else ""),
    )
    stage = controls.choice(
        "stage",
        list(STAGES),
        "Vectors",
        subject="The stages are",
        menu=True,
        width=135,
        help="As in the model; with keys moved so that the centroids meet; or also scaled by the"
        " head's c. Attention is the same in all three, unless a model soft-caps its scores.",
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
        names=lambda name: COLOURINGS[name].title,
        menu=True,
        width=170,
    )


def switch(key: str, *, drawn: bool = False) -> bool:
    """A switch of the pictures; links carry it unless it has its default."""
    default, label, tip = _SWITCHES[key]
    return controls.flag(key, label if drawn else "", default=default, optional=True, help=tip)


def dimensions(*, drawn: bool = False) -> int:
    """Whether pictures are flat or in space: 2 or 3."""
    if st.session_state.get("dims") in {"2-D", "3-D"}:  # as the query-key page stores them
        st.session_state["dims"] = st.session_state["dims"].removesuffix("-D")
    picked = controls.choice(
        "dims",
        {"2": "2-D", "3": "3-D"},
        "Dimensions" if drawn else "",
        subject="The picture has 2 or 3 dimensions",
        label_visibility="collapsed",
    )
    return int(picked)


def step_through_matrix(atlas: Atlas, layer: int) -> None:
    """◀ and ▶ step from head to head, ▲ and ▼ to the same head of the layer above or below."""
    places = range(len(atlas.numbers))
    with st.container(horizontal=True, gap="small", width="content"):
        step_through_heads(atlas)
        for label, key, to, tip in (
            ("▲", "layer_before", layer - 1, "above in the matrix: the previous layer"),
            ("▼", "layer_after", layer + 1, "below in the matrix: the next layer"),
        ):
            st.button(
                label,
                key=key,
                help=f"The head {tip}, the same head",
                on_click=st.session_state.update,
                kwargs={"layer": str(atlas.numbers[to])} if to in places else None,
                disabled=to not in places,
            )


def token_data(screen: Screen, tokens: NDArray[np.intp]) -> dict[str, Any]:
    """The fields about the drawn tokens that the matrix and the cloud share."""
    atlas, columns = screen.atlas, screen.atlas.tokens
    tones = point_tones(atlas, screen.colour)
    sentences, index = np.unique(columns.sentence[tokens], return_inverse=True)
    search = screen.search
    return {
        "colouring": tones.scale,
        "legend": tones.legend,
        "shades": shades(tones.scale, len(tones.legend)),
        "labels": [columns.displays[i] for i in tokens],
        "positions": columns.position[tokens].tolist(),
        "sentence": index.tolist(),
        "texts": [atlas.sentences[i] for i in sentences],
        "matches": search.matches.tokens[tokens] if search else np.zeros(tokens.size, bool),
        "searching": search is not None,
    }
