"""Names that every part uses: stages, modalities, and labels of tokens, layers and heads.

It imports no other module of ours, and no library.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

# What is done to queries and keys before drawing: the words used by pages, links and files.
Stage = Literal["raw", "translated", "normalized"]
STAGES: tuple[Stage, ...] = ("raw", "translated", "normalized")
# The report on a layer also has the stage of the notebook's search.
HeadStage = Literal["raw", "translated", "normalized", "searched"]
# What people read, the same everywhere.
STAGE_NAMES: Mapping[str, str] = {
    **{stage: stage for stage in STAGES},
    "searched": "a and c of the search",
}
Modality = Literal["text", "image"]  # the model's kind of input

PART = "\N{NO-BREAK SPACE}"  # between a character and which of its parts a token is: 日 1/3
RING = "\N{DOTTED CIRCLE}"  # what an accent that is a token of its own stands on
_TO_THE_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
_PARTS = re.compile(rf"((?:<U\+[0-9A-F]+>|.){_TO_THE_RIGHT}?){PART}1/(\d)(?:\1{PART}[2-4]/\2)*")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Displayed(Protocol):
    """A token, as far as its label is concerned."""

    @property
    def display(self) -> str:
        """What people read."""


class Layered(Protocol):
    """A trace or an atlas: the layers that attend, and how many layers there are."""

    @property
    def layer_labels(self) -> tuple[int, ...]:
        """The number of each layer, from 1."""

    @property
    def depth(self) -> int | None:
        """Layers of the network, including those that do not attend; None if unknown."""


def head_name(layered: Layered, layer: int, head: int) -> str:
    """A head, given from 0, as people read it: "L4 H2"."""
    return f"L{layered.layer_labels[layer]} H{head + 1}"


def without_attention(layered: Layered) -> tuple[int, ...]:
    """The numbers of the layers that do not attend."""
    last = max(layered.depth or 0, *layered.layer_labels)
    return tuple(sorted(set(range(1, last + 1)) - set(layered.layer_labels)))


def listed(numbers: Iterable[int]) -> str:
    """Ascending numbers in words, with ranges for neighbours: "1–3, 5 and 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spans = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    return " and ".join(filter(None, (", ".join(spans[:-1]), *spans[-1:])))


def percent(share: float, missing: str = "not defined") -> str:
    r"""A share as people read it, never rounded to none or all; `missing` if it is not a number.

    >>> [percent(share).replace("\xa0", " ") for share in (0.05, 0.0695, 0.4312, -0.62, 1)]
    ['5 %', '7 %', '43 %', '−62 %', '100 %']
    >>> [percent(share).replace("\xa0", " ") for share in (0.0004, 0.004, 0.994, 0.99997)]
    ['under 0.1 %', '0.4 %', '99.4 %', 'over 99.9 %']
    """
    value = 100 * abs(share)
    if not math.isfinite(value):
        return missing
    if 0 < value < 0.1:
        written = "under 0.1"
    elif 99.9 < value < 100:
        written = "over 99.9"
    else:
        written = f"{value:.{int(value < 10 or 99 < value < 100)}f}".removesuffix(".0")
    return f"{'−' if share < 0 else ''}{written}\N{NO-BREAK SPACE}%"


def labels_of(tokens: Sequence[Displayed]) -> tuple[str, ...]:
    """What tokens are called where each needs its own name."""
    return unique_labels(tuple(token.display for token in tokens))


def unique_labels(displays: tuple[str, ...]) -> tuple[str, ...]:
    """Labels that tell repeated tokens apart, with a subscript from the second on.

    >>> unique_labels(("it", "is", "it"))
    ('it', 'is', 'it₂')
    """
    taken = set(displays)
    counts: Counter[str] = Counter()
    labels = []
    for display in displays:
        counts[display] += 1
        label = display
        if counts[display] > 1:
            while (label := numbered(display, _subscript(counts[display]))) in taken:
                counts[display] += 1
        taken.add(label)
        labels.append(label)
    return tuple(labels)


def _subscript(number: int) -> str:
    return str(number).translate(_SUBSCRIPTS)


def numbered(word: str, number: str) -> str:
    """A word and its number, on its right even if the word runs right to left, thanks to U+200E.

    The views' scripts then write the label from left to right (``dirOf``).
    """
    runs_left = any(unicodedata.bidirectional(char) in {"R", "AL"} for char in word)
    return f"{word}{_TO_THE_RIGHT if runs_left else ''}{number}"


def join_pieces(pieces: Sequence[Displayed]) -> str:
    """The word that word pieces make: ``cap ##y ##bara`` -> ``capybara``.

    Parts of a character are joined into it, and accents put on their letters.
    """
    first, *rest = (piece.display for piece in pieces)
    if not rest:
        return first
    word = first + "".join(piece.removeprefix("##").removeprefix(RING) for piece in rest)
    return _PARTS.sub(lambda run: run[1].rstrip(_TO_THE_RIGHT), word).lstrip("␣▁") or word
