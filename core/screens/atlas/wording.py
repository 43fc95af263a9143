"""Words of the atlas page, and its examples."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from core.analysis.projections.joint_embedding import Projection
from core.atlas import Atlas
from core.screens.atlas.corpus.entry import AtlasEntry
from core.ui.presets import Preset
from core.ui.words import numbers
from core.ui.words.prose import Prose
from core.vocabulary import Stage, head_name, percent

PROJECTIONS: tuple[Projection, ...] = ("PCA", "UMAP", "t-SNE")
number = partial(numbers.number, missing="—")
_words = Prose(__file__)
MATHEMATICS, PRESS, TILES = _words("mathematics"), _words("press"), _words("tiles")


def whole(atlas: Atlas) -> str:
    """What tokens are parts of, in words."""
    return "sentences" if atlas.images is None else "images"


def headline(atlas: Atlas, stage: Stage, head: tuple[int, int] | None) -> str:
    """How often the nearest key in the plane is the most attended one, of a head or of all.

    Markdown; empty where nothing is measured.
    """
    shares, uniform = atlas.faithfulness[stage].top1, atlas.measured.top1
    if not np.isfinite(shares).any():
        return ""
    return _words(
        "headline",
        head=", the mean of all heads" if head is None else f" of {head_name(atlas, *head)}",
        share=float(np.nanmean(shares) if head is None else shares[head]),
        uniform=float(np.nanmean(uniform) if head is None else uniform[head]),
        stage=stage,
        tokens=atlas.measured.tokens,
    )


def faithfulness_note(correlation: float, top1: float) -> str:
    """How faithful the picture is to a head's attention, in a sentence."""
    return _words("faithfulness_of_head", r=number(correlation), top1=percent(top1, "—"))


_EXAMPLES = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))["example"]


def examples_for(entry: AtlasEntry) -> Sequence[Preset]:
    """The file's examples that make sense for this atlas."""
    atlas = entry.atlas
    places = {"", "text" if atlas.images is None else "image", *["labels"] * bool(atlas.labels)}
    return [
        Preset(each["title"], each["sentence"], each["state"])
        for each in _EXAMPLES
        if each.get("where", "") in places
    ]
