"""The state of one run of the atlas page, and the controls that its parts share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.projections.joint_embedding import Projection
from core.atlas import Atlas
from core.atlas.colours import COLOURINGS, offered_colourings, point_tones
from core.atlas.source import Matches
from core.components.points import AtlasCloud, Clouds, points_page
from core.figures.shades import shades
from core.model.trace import Patches
from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.wording import PROJECTIONS
from core.ui import controls
from core.ui.downloads import Contents, contents, offer_file
from core.ui.place import choose_head
from core.vocabulary import STAGES, Stage, head_name

open_head = partial(choose_head, part="one")


@dataclass(frozen=True, eq=False)
class TokenSearch:
    """A search, its matches among the tokens in memory, and `everywhere`: among all tokens."""

    query: str
    matches: Matches
    everywhere: Matches


@dataclass(frozen=True, eq=False)
class Screen:
    """What one run of the page shows.

    Attributes
    ----------
    entry : holds the atlas and its layouts.
    atlas : the part in memory: all of it, or a sample of one opened from a folder.
    layer, head : from 0.
    search : the search and its matches; None without one.
    contexts : whether sentences are shown below one head.
    """

    entry: AtlasEntry
    atlas: Atlas
    layer: int
    head: int
    projection: Projection = "PCA"
    stage: Stage = "raw"
    colour: str = "type"
    search: TokenSearch | None = None
    contexts: bool = False

    @property
    def name(self) -> str:
        """The head on screen, in words."""
        return head_name(self.atlas, self.layer, self.head)


def contents_of(screen: Screen, part: str) -> Contents:
    """The description for a file of this run's picture, whose text is the corpus."""
    atlas = screen.atlas
    count = len(atlas.tokens)
    corpus = {"tokens": count, "texts": len(atlas.sentences)}
    settings = {str(name): str(value) for name, value in atlas.settings.items()}
    name = f"{part}-{count}-tokens"
    return contents("atlas", atlas.model, name, text=False, corpus=corpus, built_with=settings)


def drawn_note(screen: Screen, drawn: int) -> str:
    """A note on how much of the corpus is drawn, and how."""
    size = f"{len(screen.atlas.tokens):,} tokens"
    return f"{drawn:,} of {size} of this atlas, {screen.projection}, {screen.stage}."


def pick_projection(atlas: Atlas) -> tuple[Projection, Stage]:
    """How points are projected, and what is done to the vectors first."""
    saved = atlas.vectors is None
    projection = controls.choice(
        "projection",
        PROJECTIONS[:1] if saved else PROJECTIONS,
        "Projection",
        subject="A prepared atlas offers" if saved else "The projections are",
        menu=True,
        help="PCA is exact and uses all tokens. UMAP and t-SNE are slow: all heads follow in the"
        " background, from 500 tokens each; one head alone is laid out from 2,500.",
    )
    stage = controls.choice(
        "stage",
        STAGES,
        "Vectors",
        subject="The stages are",
        menu=True,
        help="Raw, as in the model; keys translated so that the centroids meet; or normalized,"
        " which scales both by the head's c as well. Attention is the same in all three, unless a"
        " model soft-caps its scores.",
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


def pick_contexts() -> bool:
    """Whether sentences are shown below one head; links carry it only where they are."""
    return controls.flag(
        "dossier",
        "Contexts",
        default=False,
        optional=True,
        help="Sentences from every tenth of the head's strength. Some run again.",
    )


def offer_page(picture: AtlasCloud | Clouds, title: str, about: str, export: Contents) -> None:
    """Save the picture as one file that opens offline."""
    make = partial(points_page, picture, title, about, facts=export.facts)
    offer_file("Save as HTML", make, export, ".html", width="stretch")


def token_data(screen: Screen, tokens: NDArray[np.intp]) -> dict[str, Any]:
    """The fields about the drawn tokens that all pictures share."""
    atlas, columns = screen.atlas, screen.atlas.tokens
    tones = point_tones(atlas, screen.colour)
    sentences, index = np.unique(columns.sentence[tokens], return_inverse=True)
    search = screen.search
    matches = search.matches.tokens[tokens] if search else np.zeros(0, bool)
    return {
        "colouring": "category" if tones.scale == "hue" else tones.scale,
        "legend": tones.legend,
        "shades": shades(tones.scale, len(tones.legend)),
        "labels": [columns.displays[token] for token in tokens],
        "position": columns.position[tokens],
        "spans": columns.spans[tokens],
        "sentence": index,
        "texts": [atlas.sentences[sentence] for sentence in sentences],
        "matches": matches,
        "reading": f"{matches.sum():,} of {tokens.size:,} tokens match; the others have faded."
        if search
        else f"{tokens.size:,} tokens: as many queries, and as many keys. Point at one to read it.",
        **_sprites(atlas, tokens),
    }


def _sprites(atlas: Atlas, tokens: NDArray[np.intp]) -> dict[str, Any]:
    """The patches of an atlas of images, one for each token, in rows; nothing for texts."""
    if atlas.images is None:
        return {}
    places = atlas.images.places(atlas.tokens.position[tokens])
    sprites = atlas.images.sprites[atlas.tokens.sentence[tokens], np.maximum(places, 0)]
    count, side = sprites.shape[:2]
    columns = max(1, math.isqrt(count))
    rows = -(-count // columns)
    padded = np.pad(sprites, [(0, rows * columns - count), (0, 0), (0, 0), (0, 0)])
    image = padded.reshape(rows, columns, side, side, 3).swapaxes(1, 2)
    pixels = image.reshape(rows * side, columns * side, 3)
    patches = Patches(pixels, rows, columns, side, first=0, given=pixels.shape[:2])
    return {"patches": patches, "patched": places >= 0}
