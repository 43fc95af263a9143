"""The neuron view: q, k, their products, scores and softmax of one head as rows of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.attention_table import labels_of
from core.analysis.model_map import PAIR_FILTERS, PairFilter
from core.components.packing import pack
from core.components.scripts import register

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from core.analysis.neuron import NeuronHead
    from core.model.trace import Token

_neuron_view = register("neuron_view")


@dataclass(frozen=True)
class NeuronState:
    """What a person has chosen.

    Attributes
    ----------
    query : position of the token whose query is shown, from 0; None for all queries at once.
    key : position of the chosen pair's key, from 0, among the key tokens; None for the one
        attended to most.
    by_contribution : dimensions sorted by what they contribute to the pair's score.
    folded : the columns of vectors and products are hidden.
    pairs : of a pair of texts, which sentence asks and which is asked.
    turn : how many choices the component had reported when this state was set; it ignores a state
        older than its own last choice.
    """

    query: int | None
    key: int | None = None
    by_contribution: bool = False
    folded: bool = False
    pairs: PairFilter = "all"
    turn: int = 0


def show_neuron_view(
    data: bytes, queries: int, keys: int, *, key: str, on_change: Callable[[NeuronState], None]
) -> None:
    """Draw the head; another query, pair or order is computed in the browser.

    `data` is that of :func:`packed`, of so many `queries` and `keys`; `on_change` is called with
    what a person chose in the view.
    """

    def changed() -> None:
        chosen = read_state(st.session_state[key]["choice"], queries, keys)
        if chosen is not None:
            on_change(chosen)

    _neuron_view(key=key, data=data, on_choice_change=changed)


def packed(
    head: NeuronHead,
    tokens: tuple[Token, ...],
    state: NeuronState,
    source: tuple[Token, ...] | None = None,
    picture: Mapping[str, Any] | None = None,
    patches: Mapping[str, Any] | None = None,
) -> bytes:
    """What the component receives: 8 bytes per token and dimension, and a mask if needed.

    `source` are the tokens that cross attention goes to, as in a trace; `picture` the name and the
    facts of a saved picture; `patches` of an image are from :mod:`core.components.sprite`.
    """
    settings: dict[str, Any] = {
        "patches": patches,
        "labels": labels_of(tokens),
        "segments": [token.segment for token in tokens],
        "where": head.name,
        "dim": head.queries.shape[1],
        "scaling": head.rule.scaling,
        "softcap": head.rule.softcap,
        "sink": None if head.rule.sink is None else float(head.rule.sink[0]),
        "causal": head.causal,
        "keyHead": head.key_head + 1,
        "sharers": [head.sharers.start + 1, head.sharers.stop],
        "query": state.query,
        "pairKey": state.key,
        "byContribution": state.by_contribution,
        "folded": state.folded,
        "pairs": state.pairs,
        "turn": state.turn,
        "picture": picture,
    }
    if source is not None:
        settings["keyLabels"] = labels_of(source)
        settings["keySegments"] = [token.segment for token in source]
    return pack(settings, q=head.queries, k=head.keys, **_mask_arrays(head))


def _mask_arrays(head: NeuronHead) -> dict[str, NDArray[Any]]:
    """A mask that only permits or forbids is one byte per pair; any other is sent as it is."""
    if head.mask is None:
        return {}
    permitted = np.isfinite(head.mask)
    if head.mask[permitted].any():
        return {"mask": head.mask}
    return {"allowed": permitted.astype(np.uint8)}


def read_state(choice: dict[str, Any] | None, queries: int, keys: int) -> NeuronState | None:
    """What the browser reports, or None if there is no such query among so many."""
    if not choice:
        return None
    query, key = _position(choice.get("query"), queries), _position(choice.get("pairKey"), keys)
    turn = choice.get("turn")
    all_queries = "query" in choice and choice["query"] is None
    if (query is None and not all_queries) or not isinstance(turn, int):
        return None
    pairs: PairFilter = next((each for each in PAIR_FILTERS if each == choice.get("pairs")), "all")
    return NeuronState(
        query=query,
        key=key,
        by_contribution=bool(choice.get("byContribution")),
        folded=bool(choice.get("folded")),
        pairs=pairs,
        turn=turn,
    )


def _position(value: object, tokens: int) -> int | None:
    return value if isinstance(value, int) and 0 <= value < tokens else None
