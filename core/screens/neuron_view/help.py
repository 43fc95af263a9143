"""What the neuron view says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import labels_of
from core.analysis.head_patterns.search import strongest_head
from core.analysis.layers import head_name
from core.analysis.neuron import read_head, strongest_position
from core.analysis.strongest_link import strongest_link
from core.ui.messages import quote
from core.ui.presets import Preset
from core.ui.words.formulas import BIAS, SINK, capped, rule_notes

if TYPE_CHECKING:
    from core.analysis.neuron import NeuronHead
    from core.components.neuron_view import NeuronState
    from core.model import Trace
    from core.model.trace import Token

_MANY = 24  # tokens; from about here the picture scrolls


def explain(head: NeuronHead, state: NeuronState, *, is_cross: bool = False) -> str:
    """How to read the rows, true for what is drawn (Markdown)."""
    capping = ", soft-capped" if head.rule.softcap is not None else ""
    reading = (
        "On the left are the query tokens; lines lead to the tokens they attend to, and a darker"
        " line means more attention (none is drawn below 0.01). Each row on the right is a key"
        " token. The query's vector times the row's key vector, dimension by dimension, adds up to"
        f" qᵢ · kⱼ; that is scaled{capping}, and softmax over the rows turns it into attention. q"
        " and k are as the attention gets them: positions already applied where the model rotates"
        " them (rotary embeddings)."
    )
    sentences = [reading]
    if state.pairs != "all":
        sentences.append(
            "Attention to tokens of the sentence that is left out counts but is not shown."
        )
    if is_cross:
        sentences.append(
            "The query tokens are the decoder's, the key tokens those of your text; that two stand"
            " side by side means nothing."
        )
    if max(len(head.queries), len(head.keys)) > _MANY:
        sentences.append("Lines with both ends out of view are left out.")
    if len(head.sharers) > 1:
        first, last = head.sharers.start + 1, head.sharers.stop
        sentences.append(
            f"This key head serves query heads {first} to {last}: they share k, each has its own q."
        )
    if head.rule.sink is not None:
        sentences.append(SINK)
    if head.rule.biased:
        sentences.append(BIAS)
    if head.rule.mask is not None and not np.isfinite(head.rule.mask).all():
        sentences.append("A dash is a pair that the model does not permit; it has no score.")
    sentences.append(
        "The colours of q and k, and of products, each end at the 99th percentile of their sizes in"
        " this head; beyond it they stay the same, and hovering shows the number."
    )
    return " ".join(sentences)


def mathematics(head: NeuronHead) -> str:
    """The definitions behind the rows, as this head has them."""
    product = r"s\,(q_i \cdot k_j)"
    return (
        rf"""
For query token $i$ and key token $j$ of one head, with vectors of $d$ numbers each, scaling $s$
(usually $1/\sqrt d$) and mask $m$:

$$
(q_i \odot k_j)_t = q_{{it}}\,k_{{jt}},
\qquad
q_i \cdot k_j = \sum_{{t=1}}^{{d}} q_{{it}}\,k_{{jt}},
\qquad
z_{{ij}} = {capped(product, head.rule.softcap)} + m_{{ij}},
\qquad
a_{{ij}} = \frac{{e^{{z_{{ij}}}}}}{{\sum_{{j'}} e^{{z_{{ij'}}}}}} .
$$

{rule_notes([head.rule])} Where positions are rotary, $q$ and $k$ are those after rotation; where
several query heads share one key head, $k$ is that head's.
"""
        r"""
**How many dimensions come near a dot product?** Products $p_t = q_{it} k_{jt}$ have both signs, so
a part of them can exceed the whole, and "90 % of it" would mean nothing. Take them by size, largest
$|p_t|$ first; with $S_m = p_{(1)} + \dots + p_{(m)}$, the answer is the smallest $m$ for which

$$
|S_{m'} - S_d| \le 0.1\,|S_d| \quad \text{for every } m' \ge m, \qquad S_d = q_i \cdot k_j :
$$

the sum of the $m$ largest is within 10 % of the whole, above or below it, and stays there. Where
all products have one sign, these $m$ make 90 % of it; where they cancel to zero nothing comes near,
and the page says so. Scaling does not change $m$; what the formula does after that is left out.

Dimensions of $q$ and $k$ have no meaning of their own: rotating both alike leaves every score
unchanged. And a dimension that adds the same to every score of a row changes no attention.
"""
    )


def examples(trace: Trace) -> list[Preset]:
    """Pairs worth seeing, each with what was measured on this text."""
    presets = []
    link = strongest_link(trace)
    if link is not None:
        query, key = _name(trace.tokens, link.query), _name(trace.key_tokens, link.key)
        names = f"{query} gives {link.weight:.2f} to {key}."
        pair = (link.layer, link.head, link.query, link.key)
        presets = [
            _preset(trace, "The strongest link", names, *pair),
            _lowest_score(trace, *pair[:3]),
        ]
    if len(trace.tokens) > 1 and trace.source is None:
        presets.append(_previous_token(trace))
    layer, head, position, weight = strongest_position(trace)
    if weight > 0:
        presets.append(_resting_place(trace, layer, head, position, weight))
    return presets


def _previous_token(trace: Trace) -> Preset:
    """The head that looks back one token most, at its strongest pair."""
    layer, head, mean = strongest_head(trace, "previous")
    # The first pair is left out: in causal models it has little choice.
    back = np.diagonal(trace.attention(layer, head), -1).copy()
    where = "the token before"
    if trace.patches is not None:  # the first patch of a row has none to its left
        back[[token.column <= 0 for token in trace.tokens[1:]]] = 0
        where = "the patch to the left"
    query = int(back[1:].argmax()) + 2 if len(back) > 1 else 1
    sentence = f"Gives {mean:.2f} to {where}, on average: the most of any head."
    title = "One token back" if trace.patches is None else "One patch to the left"
    return _preset(trace, title, sentence, layer, head, query, query - 1)


def _resting_place(trace: Trace, layer: int, head: int, position: int, weight: float) -> Preset:
    """The head that rests most on one position, with the query that gives it most."""
    weights = trace.attention(layer, head)[:, position].copy()
    if trace.source is None:
        weights[position] = 0
    query = int(weights.argmax()) if weights.any() else position
    sentence = (
        f"Gives {weight:.2f} to {_name(trace.key_tokens, position)} on average, whatever the query:"
        " which products are the same for every query?"
    )
    return Preset(
        "A key that draws everyone", sentence, _state(trace, layer, head, query, position)
    )


def _lowest_score(trace: Trace, layer: int, head: int, query: int) -> Preset:
    """In the same row, the permitted key with the lowest score."""
    scores = read_head(trace, layer, head).scores(query)
    key = int(np.where(np.isfinite(scores), scores, np.inf).argmin())
    number = f"{scores[key]:.2f}".replace("-", "−")
    sentence = f"The same query's lowest score, {number}, is with {_name(trace.key_tokens, key)}."
    return _preset(trace, "The pair pushed furthest apart", sentence, layer, head, query, key)


def _preset(
    trace: Trace, title: str, sentence: str, layer: int, head: int, query: int, key: int
) -> Preset:
    """An example that also says how many products make the pair's dot product."""
    needed = read_head(trace, layer, head).dimensions_needed(query, key)
    parts = "the products cancel."
    if needed is not None:
        largest, come = ("largest", "comes") if needed == 1 else (f"{needed} largest", "come")
        products = f"{largest} of {trace.shape[3]} products"
        parts = f"the {products} {come} within 10 % of its dot product, and so do more of them."
    sentence = f"{sentence} In {head_name(trace, layer, head)}, {parts}"
    return Preset(title, sentence, _state(trace, layer, head, query, key))


def _name(tokens: tuple[Token, ...], position: int) -> str:
    return quote(labels_of(tokens)[position])


def file_note(trace: Trace) -> str:
    """The text of a saved picture."""
    queries, keys = (
        " ".join(token.display for token in side) for side in (trace.tokens, trace.key_tokens)
    )
    return queries if trace.source is None else f"{queries} → {keys}"


def _state(trace: Trace, layer: int, head: int, query: int, key: int) -> dict[str, str | bool]:
    places = {"head": head, "query": query, "key_token": key}
    return {
        "layer": str(trace.numbers[layer]),
        **{name: str(place + 1) for name, place in places.items()},
        "sort": "contribution",
        "fold": False,
    }
