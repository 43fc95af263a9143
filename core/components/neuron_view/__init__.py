"""The neuron view: q, k, their products, scores and softmax of one head as rows of cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.analysis.layer_payload import LayerPayload
from core.analysis.model_map import PAIR_FILTERS, PairFilter
from core.analysis.neuron import NeuronHead
from core.components.packing import pack_layers, sides_of
from core.components.reported_state import as_index, changes, reported, state_to_send
from core.components.scripts import register_component
from core.model.trace import Token

_neuron_view = register_component("neuron_view")


@dataclass(frozen=True)
class NeuronState:
    """What a person has chosen.

    Attributes
    ----------
    query : position of the token whose query is shown, from 0; None for all queries at once.
    key : position of the chosen pair's key, from 0, among the key tokens; None for the one
        attended to most.
    by_contribution : whether dimensions are sorted by their contribution to the pair's score.
    pairs : if there are two sentences, which one queries come from and which one keys.
    """

    query: int | None
    key: int | None = None
    by_contribution: bool = False
    pairs: PairFilter = "all"


def show_neuron_view(
    data: Callable[[NeuronState, int], bytes],
    state: NeuronState,
    sizes: tuple[int, int],
    *,
    key: str,
    on_change: Callable[[NeuronState, Collection[str]], None],
) -> None:
    """Draw the head; another query, pair or order is computed in the browser.

    `data` returns the :func:`packed` bytes for a state and its number; `sizes` counts queries and
    keys; `on_change` is called with what a person chose in the view, and the names of the changes.
    """

    def changed() -> None:
        chosen = read_state(reported(key, "view"), *sizes)
        if chosen is not None:
            on_change(chosen, changes(key, asdict(chosen)))

    sent, serial = state_to_send(key, asdict(state))
    _neuron_view(key=key, data=data(NeuronState(**sent), serial), on_view_change=changed)


def packed(
    head: NeuronHead,
    layer: LayerPayload,
    tokens: tuple[Token, ...],
    source: tuple[Token, ...] | None,
    state: NeuronState,
    serial: int = 0,
    *,
    picture: Mapping[str, Any] | None = None,
    patches: Mapping[str, Any] | None = None,
) -> bytes:
    """What the component receives: 8 bytes per token and dimension, a bit per pair if needed.

    `layer` holds this head only; `source` are the key tokens of cross attention, as in a trace;
    when `serial` changes, the component takes `state`, else it keeps its own; `picture` is the name
    and the facts of a saved picture; `patches`, for an image, come from
    :mod:`core.components.packing`.
    """
    settings: dict[str, Any] = {
        "patches": patches,
        "sides": sides_of(tokens, source),
        "where": head.name,
        "heads": 1,
        "hasSink": head.rule.sink is not None,
        "keyHead": head.key_head + 1,
        "sharers": [head.sharers.start + 1, head.sharers.stop],
        "query": state.query,
        "pairKey": state.key,
        "byContribution": state.by_contribution,
        "pairs": state.pairs,
        "serial": serial,
        "picture": picture,
    }
    return pack_layers(settings, {0: layer})


def read_state(choice: Mapping[str, Any], queries: int, keys: int) -> NeuronState | None:
    """The state that the browser reports, or None if its query is missing or out of range."""
    query, key = as_index(choice.get("query"), queries), as_index(choice.get("pairKey"), keys)
    all_queries = "query" in choice and choice["query"] is None
    if query is None and not all_queries:
        return None
    pairs: PairFilter = next((each for each in PAIR_FILTERS if each == choice.get("pairs")), "all")
    return NeuronState(
        query=query,
        key=key,
        by_contribution=bool(choice.get("byContribution")),
        pairs=pairs,
    )
