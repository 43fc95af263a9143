"""What the neuron view's page says: how to read it, examples, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.head_patterns.search import strongest_head
from core.analysis.neuron import read_head, strongest_position
from core.analysis.strongest_link import strongest_link
from core.ui.messages import quote
from core.ui.presets import Preset, show
from core.ui.words.formulas import cap_sentence, capped

if TYPE_CHECKING:
    from core.analysis.neuron import NeuronHead
    from core.components.neuron_view import NeuronState
    from core.model import Trace

_MANY = 24  # tokens; from about here the picture scrolls


def explain(head: NeuronHead, state: NeuronState) -> str:
    """How to read the rows, true for what is drawn (Markdown)."""
    sentences = [
        "On the left are the tokens that ask; lines lead to those they attend to, and the darker a"
        " line, the more (none is drawn under 0.01). Each row on the right is a token that can be"
        " attended to. The query's vector times the row's key vector, dimension by dimension, adds"
        " up to qᵢ · kⱼ; that is scaled"
        + (", soft-capped" if head.softcap is not None else "")
        + ", and softmax over the rows turns it into attention.",
    ]
    sentences.append(
        "q and k are as the attention gets them: positions already applied where the model rotates"
        " them (rotary embeddings)."
    )
    if state.pairs != "all":
        sentences.append(
            "Attention to tokens of the sentence that is left out counts and is not shown."
        )
    if len(head.queries) > _MANY:
        sentences.append("Lines with no end in view are left out.")
    if len(head.sharers) > 1:
        first, last = head.sharers.start + 1, head.sharers.stop
        sentences.append(
            f"This key head serves query heads {first} to {last}: those have the same k, each its"
            " own q."
        )
    if head.causal or head.mask is not None:
        sentences.append("A dash is a pair that the model does not permit; it has no score.")
    sentences.append(
        "Colours of q and k, and of products, each end at the 99th percentile of their sizes in"
        " this head; beyond it they stay the same, and hovering tells the number."
    )
    return " ".join(sentences)


def show_presets(trace: Trace) -> None:
    """Buttons that set the controls, each with what was measured on this text."""
    show("neuron_view", lambda: _presets(trace))


def show_mathematics(head: NeuronHead) -> None:
    """The definitions behind the rows, as this head has them."""
    product = r"s\,(q_i \cdot k_j)"
    with st.expander("The mathematics"):
        st.markdown(
            rf"""
For query token $i$ and key token $j$ of one head, with vectors of $d$ numbers each, scaling $s$
(usually $1/\sqrt d$) and mask $m$:

$$
(q_i \odot k_j)_t = q_{{it}}\,k_{{jt}},
\qquad
q_i \cdot k_j = \sum_{{t=1}}^{{d}} q_{{it}}\,k_{{jt}},
\qquad
z_{{ij}} = {capped(product, head.softcap)} + m_{{ij}},
\qquad
a_{{ij}} = \frac{{e^{{z_{{ij}}}}}}{{\sum_{{j'}} e^{{z_{{ij'}}}}}} .
$$

{cap_sentence(head.softcap)} Where positions are rotary, $q$ and $k$ are those after rotation; where
several query heads share one key head, $k$ is that head's.
"""
            r"""
**How many dimensions come near a dot product?** Products $p_t = q_{it} k_{jt}$ have both signs, so
that a part of them can exceed the whole, and "90 % of it" would mean nothing. They are taken by
size, largest $|p_t|$ first; with $S_m = p_{(1)} + \dots + p_{(m)}$ and $S_d = q_i \cdot k_j$, the
answer is the least $m$ for which

$$
|S_{m'} - S_d| \le 0.1\,|S_d| \quad \text{for every } m' \ge m :
$$

the sum of the $m$ largest is within 10 % of the whole, above or below it, and stays there. Where
all products have one sign, these $m$ make 90 % of it. Where they cancel to zero nothing comes near,
and the page says so.
Scaling multiplies every product alike and does not change $m$; what the formula does to the
sum after that is not asked here.

Dimensions of $q$ and $k$ have no meaning of their own: the same rotation of both leaves every score
as it is. And attention sees only differences within a row: a dimension that adds the same to every
score of the row changes nothing.
"""
        )


def _presets(trace: Trace) -> list[Preset]:
    found = [_previous_token(trace), _resting_place(trace)]
    link = strongest_link(trace)
    if link is not None:
        names = f"{_name(trace, link.query)} gives {link.weight:.2f} to {_name(trace, link.key)}"
        pair = (link.layer, link.head, link.query, link.key)
        found = [
            Preset("The strongest link", f"{names}. {_made_of(trace, *pair)}", _state(*pair)),
            _lowest_score(trace, link.layer, link.head, link.query),
            *found,
        ]
    return [preset for preset in found if preset is not None]


def _previous_token(trace: Trace) -> Preset | None:
    """The head that looks back one token most, at its strongest pair."""
    if len(trace.tokens) < 2:
        return None
    layer, head, mean = strongest_head(trace, "previous")
    # The first pair is left out: in causal models it has little choice.
    back = np.diagonal(trace.attention(layer, head), -1)
    query = int(back[1:].argmax()) + 2 if len(back) > 1 else 1
    pair = (layer, head, query, query - 1)
    sentence = (
        f"Gives {mean:.2f} to the token before, on average: the most of any head."
        f" {_made_of(trace, *pair)}"
    )
    return Preset("One token back", sentence, _state(*pair))


def _resting_place(trace: Trace) -> Preset | None:
    """The head that rests most on one position."""
    layer, head, position, weight = strongest_position(trace)
    if weight == 0:
        return None
    one = read_head(trace, layer, head)
    query = max(
        (i for i in range(len(trace.tokens)) if one.permitted(i)[position] and i != position),
        key=lambda i: one.weights(i)[position],
        default=position,
    )
    sentence = (
        f"Gives {weight:.2f} to {_name(trace, position)} on average, whoever asks: which products"
        " are the same for every query?"
    )
    return Preset("A key that draws everyone", sentence, _state(layer, head, query, position))


def _lowest_score(trace: Trace, layer: int, head: int, query: int) -> Preset | None:
    """In the same row, the permitted key with the lowest score."""
    scores = read_head(trace, layer, head).scores(query)
    key = int(np.where(np.isfinite(scores), scores, np.inf).argmin())
    sentence = (
        f"The same query's lowest score, {scores[key]:.2f}, is with {_name(trace, key)}.".replace(
            "-", "−"
        )
        + f" {_made_of(trace, layer, head, query, key)}"
    )
    return Preset("The pair pushed furthest apart", sentence, _state(layer, head, query, key))


def _made_of(trace: Trace, layer: int, head: int, query: int, key: int) -> str:
    one = read_head(trace, layer, head)
    parts = one.contributions(query, key)
    name, dims = f"L{layer + 1} H{head + 1}", one.queries.shape[1]
    if parts.enough is None:
        return f"In {name} its products cancel."
    few = "largest" if parts.enough == 1 else f"{parts.enough} largest"
    come, stay = ("comes", "stays") if parts.enough == 1 else ("come", "stay")
    return (
        f"In {name}, the {few} of {dims} products {come} within 10 % of its dot product and {stay}"
        " there."
    )


def _name(trace: Trace, position: int) -> str:
    return quote(trace.tokens[position].display)


def _state(layer: int, head: int, query: int, key: int) -> dict[str, str | bool]:
    return {
        "layer": str(layer + 1),
        "head": str(head + 1),
        "query": str(query + 1),
        "key_token": str(key + 1),
        "sort": "contribution",
        "fold": False,
    }
