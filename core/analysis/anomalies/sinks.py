"""Sinks of many texts: attention to the places that every text has, measured at those places.

One text's strongest column is a position. Texts of unequal length have nothing at one position: the
closing `[SEP]` of one stands where another has a word. So a corpus is aligned by what a token is,
and a sink that is named is the one that was measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.anomalies.contribution import over_median
from core.analysis.head_patterns.pairs import SENTENCE_PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.anomalies.contribution import Columns
    from core.model.trace import Token

    Floats = NDArray[np.float64]

# The first token has measures of its own in every text (`first_attention` and the others).
FIRST = "first"
ROLES = {
    "separator": "the separators",
    "last": "the last token of the text",
    "punctuation": "full stops and commas",
}
PARTS = ("attention", "uniform", "contribution", "value")
_LEAST_SHARE = 0.5  # of the corpus, by tokens, that must have such a token before it is named


def role_positions(tokens: Sequence[Token]) -> dict[str, NDArray[np.bool_]]:
    """Which tokens have each role of `ROLES`, (token,).

    Separators are the special tokens after the first (`[SEP]`, `</s>`); the last token of the text
    is the last that was typed, before its separator.
    """
    special = np.array([token.special for token in tokens])
    places = np.arange(len(tokens))
    typed = np.flatnonzero(~special)
    marks = np.array([token.display in SENTENCE_PUNCTUATION for token in tokens])
    return {
        "separator": special & (places > 0),
        "last": places == (typed[-1] if typed.size else -1),
        "punctuation": marks & ~special,
    }


def role_measures(tokens: Sequence[Token], found: Columns) -> dict[str, Floats]:
    """What the tokens of each role take and give together, (layer, head) by name.

    ``separator_attention`` and so on, for each of `ROLES` and `PARTS`: the sums over its tokens of
    mean attention, of that with uniform attention, and of their share of what is moved; and the
    mean of their values' norms over the head's median. Not a number where no token has the role.
    """
    relative = over_median(found.norms)
    measures = {}
    for role, here in role_positions(tokens).items():
        known = bool(here.any())
        for part, values in (
            ("attention", found.attention),
            ("uniform", found.uniform),
            ("contribution", found.contribution),
            ("value", relative),
        ):
            at = values[..., here]
            sums = at.mean(axis=-1) if part == "value" and known else at.sum(axis=-1)
            measures[f"{role}_{part}"] = sums if known else np.full(sums.shape, np.nan)
    return measures


def corpus_sink(
    merged: Mapping[str, Floats], texts: Sequence[Mapping[str, Floats]]
) -> tuple[dict[str, Floats], NDArray[np.str_]]:
    """The role with the most attention in a corpus: its measures, and which it is, (layer, head).

    Parameters
    ----------
    merged : the corpus's mean of each measure.
    texts : the measures of each text; a role must occur in texts that hold half of the tokens.
    """
    tokens = np.array([text["tokens"].flat[0] for text in texts])
    roles = [FIRST]
    for role in ROLES:
        has = np.array([bool(np.isfinite(text[f"{role}_attention"]).any()) for text in texts])
        if tokens[has].sum() >= _LEAST_SHARE * tokens.sum():
            roles.append(role)
    strongest = np.stack([merged[f"{role}_attention"] for role in roles]).argmax(axis=0)
    measures = {
        f"sink_{part}": np.choose(strongest, [merged[f"{role}_{part}"] for role in roles])
        for part in PARTS
    }
    return measures, np.array(roles)[strongest]


def without_roles(measures: Mapping[str, Floats]) -> dict[str, Floats]:
    """The measures that a table shows: all but those of :func:`role_measures`."""
    names = {f"{role}_{part}" for role in ROLES for part in PARTS}
    return {name: values for name, values in measures.items() if name not in names}
