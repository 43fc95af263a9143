"""Lines from the queries of a sentence to the keys they attend to most, for the cloud of a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.query_key.clouds import strongest_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model import Trace
    from core.screens.atlas.screen import Screen

KEYS_A_QUERY = 2  # as AttentionViz draws them


def sentence_lines(
    screen: Screen, trace: Trace, picked: int, tokens: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Attention within the sentence of a token, of the head on screen.

    Parameters
    ----------
    trace : of that sentence.
    picked : the token, among all of the atlas.
    tokens : those that are drawn, ascending.

    Returns
    -------
    (line, 3): the query's and the key's place among `tokens`, and the attention. Lines to tokens
    that are not drawn are left out.
    """
    columns = screen.atlas.tokens
    sentence = columns.of_sentence(int(columns.sentence[picked]))
    weights = trace.attention(screen.layer, screen.head).astype(np.float64)
    lines = strongest_lines(weights, KEYS_A_QUERY)
    queries, keys = sentence[lines.queries], sentence[lines.keys]
    drawn = np.isin(queries, tokens) & np.isin(keys, tokens)
    places = [np.searchsorted(tokens, each[drawn]) for each in (queries, keys)]
    return np.column_stack([*places, lines.weights[drawn]])
