"""Sinks over many texts: attention to the places that every text has.

Texts of different lengths have nothing in common at one position: the closing `[SEP]` of one stands
where another has a word. So a corpus is aligned by what a token is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.analysis.anomalies.contribution import Columns, over_median
from core.analysis.anomalies.flags import Measures
from core.analysis.arrays import Floats
from core.analysis.head_patterns.pairs import is_mark
from core.model.trace import Token

# The first token has measures of its own in every text (`first_attention` and the others).
FIRST = "first"
ROLES = {
    "separator": "the separators",
    "last": "the last token of the text",
    "punctuation": "full stops and commas",
}
PARTS = ("attention", "uniform", "contribution", "value")
_MIN_SHARE = 0.5  # of the corpus, by tokens, in texts that have a role before it is named


def role_measures(tokens: Sequence[Token], totals: Columns) -> dict[str, Floats]:
    """What the tokens of each role take and give together, (layer, head) by name.

    ``separator_attention`` and so on, for each of `ROLES` and `PARTS`: summed over its tokens, mean
    attention, mean uniform attention and share of what the head moves; and the mean of their value
    norms over the head's median. nan where no token has the role. Separators are the special tokens
    after the first (`[SEP]`, `</s>`); the last token is the last one typed, before its separator.
    """
    special = np.array([token.special for token in tokens])
    positions = np.arange(len(tokens))
    marks = np.array([is_mark(token) for token in tokens])
    roles = {
        "separator": special & (positions > 0),
        "last": positions == positions[~special].max(initial=-1),
        "punctuation": marks & ~special,
    }
    values = (totals.attention, totals.uniform, totals.contribution, over_median(totals.norms))
    measures = {}
    for role, members in roles.items():
        for part, value in zip(PARTS, values, strict=True):
            summed = value[..., members].sum(axis=-1)
            count = members.sum() if part == "value" else 1
            measures[f"{role}_{part}"] = summed / count if members.any() else summed * np.nan
    return measures


def corpus_sink(
    merged: Measures, texts: Sequence[Measures]
) -> tuple[dict[str, Floats], NDArray[np.str_]]:
    """The role with the most attention in a corpus: its measures, and its name, (layer, head).

    `merged` is the corpus's mean of each measure of the `texts`; a role must occur in texts that
    hold half of the tokens.
    """
    tokens = np.array([text["tokens"].flat[0] for text in texts])
    roles = [FIRST]
    for role in ROLES:
        has_role = [bool(np.isfinite(text[f"{role}_attention"]).any()) for text in texts]
        if tokens[has_role].sum() >= _MIN_SHARE * tokens.sum():
            roles.append(role)
    strongest = np.stack([merged[f"{role}_attention"] for role in roles]).argmax(axis=0)
    measures = {
        f"sink_{part}": np.choose(strongest, [merged[f"{role}_{part}"] for role in roles])
        for part in PARTS
    }
    return measures, np.array(roles)[strongest]
