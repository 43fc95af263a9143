"""How much heads differ where nothing that matters does: between paraphrases, or sentences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np

from core.analysis.arrays import Floats, sample_indices
from core.analysis.compare.alignment import Alignment, units
from core.analysis.compare.difference import head_distances
from core.model.trace import Trace

PARAPHRASES = 20
RATE = 0.05  # aimed at: the share of heads that a fresh paraphrase lifts over the floor
ENOUGH = 5  # texts for a floor that is exceeded at about that rate; 2 or 3 give 10 to 15 %
FLOOR_RATE = 0.06  # at most, measured from 5 to 19 texts by tests/analysis/test_compare.py


def paraphrases(text: str) -> tuple[str, ...]:
    """The text with words replaced by synonyms, in at most `PARAPHRASES` ways, most changed last.

    Order and capitals stay, and "a" or "an" still fits. One word is replaced, or more where that
    gives too few; always in the same way. Empty where no word is in ``synonyms.toml``.
    """
    parts = re.split(r"([^\W\d_]+)", text)  # words have odd places
    choices = {i: words for i in range(1, len(parts), 2) if (words := _synonyms_of(parts, i))}
    found: list[str] = []
    for count in range(1, len(choices) + 1):
        if len(found) == PARAPHRASES:
            break
        ways = [
            dict(zip(places, words, strict=True))
            for places in combinations(choices, count)
            for words in product(*(choices[place] for place in places))
        ]
        for i in sample_indices(len(ways), PARAPHRASES - len(found)):
            found += ["".join(ways[i].get(place, part) for place, part in enumerate(parts))]
    return tuple(found)


def _synonyms_of(parts: list[str], place: int) -> list[str]:
    """Of the word at a place, as it is written there, those that fit its article."""
    word, article = parts[place], place > 1 and parts[place - 2].casefold() in {"a", "an"}
    return [
        other.upper() if word.isupper() else other.capitalize() if word.istitle() else other
        for other in _synonyms().get(word.casefold(), ())
        if not article or (other[0] in "aeiou") == (word[0].casefold() in "aeiou")
    ]


@cache
def _synonyms() -> dict[str, list[str]]:
    listed = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text("utf-8"))
    groups = [line.split() for lines in listed.values() for line in lines]
    return {word: [other for other in group if other != word] for group in groups for word in group}


def floor(distances: Floats) -> Floats:
    """What a head's distance must exceed, (layer, head); nan without any text.

    `distances` are those of a text to its paraphrases, (paraphrase, layer, head).

    The larger of two: what a fresh paraphrase exceeds at `RATE` by the head's own distances (their
    maximum unless there are more than 20), and the head's mean times what heads exceed at `RATE`
    when each distance is divided by the mean of the head's others, so that few texts suffice.
    """
    count = len(distances)
    if not count:
        return np.full(distances.shape[1:], np.nan)
    rank = min(int(np.ceil((1 - RATE) * (count + 1))), count)
    highest = np.sort(distances, axis=0)[rank - 1]
    others = (distances.sum(axis=0) - distances) / max(count - 1, 1)
    ratios = np.divide(distances, others, out=np.ones_like(distances), where=others > 0)
    usual = distances.mean(axis=0) * np.quantile(ratios, 1 - RATE)
    return np.maximum(highest, usual)


def half_distances(traces: Iterable[Trace]) -> Floats:
    """How much heads differ between two halves of a corpus, (pair of texts, layer, head).

    `traces` are of the corpus; each is compared with one of as many words, word by word in order.
    """
    waiting: dict[int, Trace] = {}
    distances = []
    for trace in traces:
        own = units(trace)
        if (other := waiting.pop(len(own), None)) is None:
            waiting[len(own)] = trace
        else:
            pairs = tuple((i, i) for i in range(len(own)))
            distances.append(head_distances(trace, other, Alignment(own, units(other), pairs)))
    return np.array(distances)
