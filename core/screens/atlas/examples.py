"""What to try on the atlas page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.screens.atlas.large.drawn import COUNTS, SAMPLE
from core.ui.presets import Preset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.screens.atlas.shelf import AtlasShelf

_OF_TEXTS = [
    Preset(
        "Positions make stripes",
        "Coloured by position, heads that look at **where** a token is form bands or spirals.",
        {"part": "heads", "colour": "position", "find": "", "projection": "PCA"},
    ),
    Preset(
        "One word in all heads",
        "Every “she” is drawn large: together where a head looks at **what** a token is,"
        " scattered where it does not.",
        {"part": "heads", "colour": "type", "find": "she", "kind": "token"},
    ),
    Preset(
        "The first token alone",
        "Where **[CLS]** keys lie far from everything else, they take much attention that has"
        " nowhere better to go.",
        {"part": "heads", "colour": "special", "find": ""},
    ),
    Preset(
        "From a verb to its subject",
        "Heads that attend from “was” back to “it”, with sentences in which they do.",
        {"part": "words", "first": "was", "second": "it"},
    ),
    Preset(
        "Does normalization help?",
        "The map shows in which heads it brings distance closer to attention, and in which not.",
        {"part": "trust", "stage": "normalized", "measure": "correlation"},
    ),
]
_OF_IMAGES = [
    Preset(
        "Coloured by hue",
        "Where colours lie together, queries and keys of one hue meet: the head follows hue.",
        {"part": "heads", "colour": "hue", "find": "", "projection": "PCA"},
    ),
    Preset(
        "Coloured by brightness",
        "Where dark and bright lie at two ends, the head follows brightness.",
        {"part": "heads", "colour": "brightness", "find": "", "projection": "PCA"},
    ),
    Preset(
        "Rows and columns",
        "Heads that look at **where** a patch is put rows of the image side by side.",
        {"part": "heads", "colour": "row", "find": "", "projection": "PCA"},
    ),
    Preset(
        "The middle of every image",
        "Four patches of every image are drawn large: together where only place counts.",
        {"part": "heads", "colour": "type", "find": "r6c6-r7c7", "kind": "region"},
    ),
    Preset(
        "Does normalization help?",
        "The map shows in which heads it brings distance closer to attention, and in which not.",
        {"part": "trust", "stage": "normalized", "measure": "correlation"},
    ),
]
_WITH_LABELS = Preset(
    "Coloured by label",
    "The labels of the corpus: topics of the sample, drawn or photographed, the column you chose.",
    {"part": "heads", "colour": "label", "find": ""},
)
_ALL_TOKENS = Preset(
    "All tokens at once",
    "Every cell counts its queries and keys. Point at one for the numbers; click a head, and zoom"
    " in until its points appear.",
    {"part": "heads", "drawn": COUNTS, "find": ""},
)


def examples_for(shelf: AtlasShelf) -> Sequence[Preset]:
    """Those that make sense for the atlas on a shelf; of a large one, colours are of its sample."""
    atlas = shelf.atlas
    if atlas is None:
        return []
    examples = [*(_OF_TEXTS if atlas.images is None else _OF_IMAGES)]
    examples += [_WITH_LABELS] * bool(atlas.labels)
    if shelf.large is None:
        return examples
    return [_ALL_TOKENS, *map(_of_sample, examples)]


def _of_sample(example: Preset) -> Preset:
    coloured = example.state.get("colour", "type") != "type"
    return replace(example, state={**example.state, "drawn": SAMPLE}) if coloured else example
