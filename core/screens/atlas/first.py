"""All heads of the atlas that the page opens with, shipped with the app.

The page draws them while the model loads and the atlas is built. ``python -m tests.tools.first``
rewrites the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.atlas import Atlas
from core.atlas.data import (
    CorpusTokens,
    Measured,
    ModelFaithfulness,
    SampledVectors,
)
from core.atlas.source import Source
from core.components.packing import restore_points
from core.model import Chosen, Trace
from core.model.bundled.first import TEXT
from core.records import read_record
from core.screens.atlas.corpus.building import is_waiting, make_atlas
from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.corpus.source import DEFAULT_TOKENS, Material, corpus_of, max_tokens
from core.screens.atlas.layouts import tile_tokens
from core.ui import cache, controls
from core.ui.cache import first_model
from core.ui.current import begin_corpus
from core.ui.words.messages import run_again
from core.ui.words.prose import Prose

FILE = Path(__file__).with_name("first.safetensors")
_PICKED = "sample"
_SHOWN = {
    "model": TEXT,
    "part": "heads",
    "find": "",
    "projection": "PCA",
    "stage": "raw",
    "colour": "type",
}
_words = Prose(__file__)


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstAtlas:
    """What the picture of all heads needs: raw vectors in the plane.

    Attributes
    ----------
    plan, tokens : the chosen sentences of the sample corpus, and all their tokens.
    steps, frames : for the tokens that tiles draw, (layer * head, 2 token, 2), as
        :func:`core.components.packing.quantise_points` gives them.
    """

    plan: Chosen
    tokens: CorpusTokens
    steps: NDArray[np.uint16]
    frames: NDArray[np.float32]
    shares: Floats
    c: Floats
    faithfulness: ModelFaithfulness
    measured: Measured


def first_entry(picked: str, budget: int) -> AtlasEntry | None:
    """The atlas shipped with the app, which can only draw all heads at once.

    None where the link asks for another picture, or the real atlas is ready.
    """
    if (picked, budget) != (_PICKED, DEFAULT_TOKENS) or not controls.stand_at(**_SHOWN):
        return None
    corpus = corpus_of(picked)
    if not is_waiting(TEXT, corpus, budget):
        return None
    if max_tokens() < budget:
        return None
    first = read_record(FirstAtlas, FILE)
    trace = begin_corpus(TEXT)
    if trace is None:
        return None
    source = Source(_atlas(first, corpus, trace))
    return AtlasEntry(source, plan=first.plan)


def _atlas(first: FirstAtlas, corpus: Material, trace: Trace) -> Atlas:
    """The atlas, with only what this picture needs."""
    heads, size = trace.shape[:2], len(first.tokens)
    nothing, points = np.zeros((*heads, 0, 0)), np.zeros((*heads, 2 * size, 2), np.float32)
    empty = nothing.astype(np.float32)
    atlas = Atlas(
        model=trace.model,
        causal=trace.causal,
        depth=trace.depth,
        tokens=first.tokens,
        sentences=tuple(corpus.texts[place] for place in first.plan.places),
        labels=tuple(corpus.labels[place] for place in first.plan.places),
        points={"raw": points},
        settings={"tokens_cut": 0},  # no sentence is that long
        norms=empty,
        vectors=SampledVectors(empty, empty, np.zeros(0, int), nothing, nothing),
        shares={"raw": first.shares},
        c=first.c,
        faithfulness={"raw": first.faithfulness},
        measured=first.measured,
    )
    in_tiles = tile_tokens(atlas, None)
    both = np.concatenate([in_tiles, in_tiles + size])
    points[:, :, both] = restore_points(first.steps, first.frames).reshape(*heads, both.size, 2)
    return atlas


def show_until_made() -> None:
    """Show the atlas's progress in place of its description; then rerun the page with it."""
    first_model.when_loaded(_make, _words("first"))


def _make() -> None:
    make_atlas(cache.model(TEXT), corpus_of(_PICKED), DEFAULT_TOKENS)
    run_again()
