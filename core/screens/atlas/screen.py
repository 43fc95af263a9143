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
from core.ui.downloads import contents, offer_file
from core.ui.selectors import choose_head

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas, Matches
    from core.analysis.atlas.search_parts import PartMatches
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage
    from core.components.atlas_cloud import AtlasCloud
    from core.components.atlas_matrix import AtlasMatrix
    from core.screens.atlas.shelf import AtlasShelf
    from core.ui.downloads import Contents

open_head = partial(choose_head, part="one")
DEFAULT: tuple[Projection, Stage] = ("PCA", "raw")
SIZES, LABELS, LINES = "sizes", "labels", "top2"
REGIONS, DOSSIER = "regions", "dossier"
_SWITCHES = {  # default, label, help
    SIZES: (False, "Size by norm", "The longer a query or key in the model, the larger its dot."),
    LABELS: (True, "Labels", "Tokens beside points. Hovering over a point names it anyway."),
    LINES: (
        True,
        "Attention lines",
        "In the clicked sentence, from each query to its top 2 keys.",
    ),
    REGIONS: (
        False,
        "Regions",
        "Dense groups of points, with the words that are more frequent in them than by chance.",
    ),
    DOSSIER: (
        False,
        "Dossier",
        "What is known of this head, and contexts of every strength. Some sentences run again.",
    ),
}


@dataclass(frozen=True, eq=False)
class Search:
    """A search, its matches, and their dispersion in each head's plane, (layer, head).

    Of a large atlas these are of its sample, and `everywhere` has the matches among all tokens.
    """

    query: str
    matches: Matches
    spread: NDArray[np.float64]
    everywhere: PartMatches | None = None


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


def contents_of(screen: Screen, part: str) -> Contents:
    """What a file of this run's picture holds; its text is the corpus."""
    atlas = screen.atlas
    count = len(atlas.tokens)
    corpus = {"tokens": count, "texts": len(atlas.sentences)}
    settings = {str(name): str(value) for name, value in atlas.settings.items()}
    name = f"{part}-{count}-tokens"
    return contents("atlas", atlas.model, name, text=False, corpus=corpus, built_with=settings)


def pick_projection(atlas: Atlas) -> tuple[Projection, Stage]:
    """How points are projected, and what is done to the vectors first."""
    saved = atlas.vectors is None
    projection = controls.choice(
        "projection",
        PROJECTIONS[:1] if saved else PROJECTIONS,
        "Projection",
        subject="A saved atlas offers" if saved else "The projections are",
        menu=True,
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
        width=145,
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


def offer_page(
    page: Callable[..., str],
    picture: AtlasCloud | AtlasMatrix,
    title: str,
    about: str,
    held: Contents,
    **look: str,
) -> None:
    """Save the picture as one file that opens offline."""
    offer_file(
        "Save as HTML",
        partial(page, picture, title, about, held.facts),
        held,
        ".html",
        width="stretch",
        **look,
    )


def token_data(screen: Screen, tokens: NDArray[np.intp]) -> dict[str, Any]:
    """The fields about the drawn tokens that the matrix and the cloud share."""
    atlas, columns = screen.atlas, screen.atlas.tokens
    tones = point_tones(atlas, screen.colour)
    sentences, index = np.unique(columns.sentence[tokens], return_inverse=True)
    search = screen.search
    return {
        "colouring": "category" if tones.scale == "hue" else tones.scale,
        "legend": tones.legend,
        "shades": shades(tones.scale, len(tones.legend)),
        "labels": [columns.displays[i] for i in tokens],
        "positions": columns.position[tokens].tolist(),
        "sentence": index.tolist(),
        "texts": [atlas.sentences[i] for i in sentences],
        "matches": search.matches.tokens[tokens] if search else np.zeros(tokens.size, bool),
        "searching": search is not None,
        **_sprites(atlas, tokens),
    }


def _sprites(atlas: Atlas, tokens: NDArray[np.intp]) -> dict[str, Any]:
    """The patches of an atlas of images as small pictures; nothing for texts."""
    if atlas.images is None:
        return {}
    places = atlas.images.places(atlas.tokens.position[tokens])
    pictures = atlas.images.sprites[atlas.tokens.sentence[tokens], np.maximum(places, 0)]
    return {"sprites": pictures, "patched": places >= 0}
