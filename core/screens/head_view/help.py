"""What the head view page says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.analysis.attention_table import labels_of
from core.analysis.head_patterns.search import find_heads, strongest_head
from core.analysis.layers import head_name
from core.analysis.strongest_link import strongest_link
from core.analysis.view_weights import only_permits, sends_scores
from core.ui.messages import quote
from core.ui.presets import Preset
from core.ui.words.formulas import SINK, capped, rule_notes, softcap_of
from core.ui.words.inputs import special_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.model import Trace

_WEIGHTED = {
    "value": "attention times the length of the value vector it brings",
    "transformed": "attention times the length of the value after the head's output projection, a"
    " token's part in what the head adds (parts may cancel)",
}
_MANY = 64  # tokens; from about here the picture scrolls


def explain(trace: Trace, view: Mapping[str, Any]) -> str:
    """How to read the picture, true for what is on the screen."""
    reading = (
        "A line joins a token (left) to one it attends to (right), in the colour of its head; wider"
        " and darker lines are stronger. The bars beside a token are its weights in each head, the"
        " number is their mean."
    )
    sentences = [reading, _explain_rows(trace, view)]
    if trace.patches is not None:
        sentences.insert(1, "r2c5 is the patch in row 2 and column 5 of the image.")
    if trace.source is not None:
        sentences.insert(
            1, "On the left are the decoder's tokens, on the right those of your text."
        )
    if trace.causal:
        who = "The decoder" if trace.kind == "decoder" else "This model"
        sentences.append(f"{who} reads from left to right: no line leads to a later token.")
    if max(len(trace.tokens), len(trace.key_tokens)) > _MANY:
        sentences.append(
            "Lines with an end out of view are fainter; the map on the right shows each token's"
            " strongest line."
        )
    sentences.append("Lines are drawn in 255 steps, numbers are exact.")
    return " ".join(sentences)


def _explain_rows(trace: Trace, view: Mapping[str, Any]) -> str:
    if view["renorm"]:
        return "Each token's weights are divided by their sum over the tokens shown."
    if view["weigh"] in _WEIGHTED:
        return (
            f"Weights are {_WEIGHTED[view['weigh']]}; they do not add up to 1, and the widest line"
            " is the layer's largest."
        )
    if any(rule.sink is not None for rule in trace.layers):
        return f"The lines of one token in one head add up to less than 1. {SINK}"
    away = view["without" if trace.source is None else "without_keys"]
    hidden = view["hide"] or away or view["pairs"] != "all"
    rest = ", part of which goes to tokens not shown" if hidden else ""
    return f"The lines of one token in one head add up to 1{rest}."


def mathematics(trace: Trace, layer: int) -> str:
    """The definitions behind the lines of a layer (from 0), as this model has them."""
    softcap = softcap_of(trace, layer)
    product = capped(r"s \, \langle q^h_i, k^h_j \rangle", softcap)
    adds, notes = not only_permits(trace, layer), rule_notes([trace.layers[layer]])
    mask, added = (
        (" + m^h_{ij}", " $m$ is what this model adds to its scores.") if adds else ("", "")
    )
    if sends_scores(trace, layer):
        source = (
            "The numbers you read are computed from this formula in the browser, which gets the"
            " layer's $q$, $k$ and $L$ as float32."
        )
    else:
        why = "$q$ and $k$ alone do not give them" if adds else "they are smaller than $q$ and $k$"
        source = f"The numbers you read are the model's own weights, sent as float32 because {why}."
    return (
        rf"""
A line of head $h$ from token $i$ to token $j$ is the attention weight

$$
a^h_{{ij}} = \exp\bigl(z^h_{{ij}} - L^h_i\bigr),
\qquad
z^h_{{ij}} = {product}{mask},
\qquad
L^h_i = \log \sum_{{j'}} e^{{z^h_{{ij'}}}},
$$

where the sum runs over the tokens that $i$ may attend to.{added} {notes} The
picture rounds it to $\lfloor 255 \, a \rceil / 255$. {source}
"""
        r"""
**Attention is not yet effect.** Head $h$ adds the vector $\sum_j a^h_{ij} \, f^h(v_j)$ to token
$i$, with $f^h(v_j) = v^h_j W^h_O$. A token with a short $f(v)$ adds little however much attention
it gets; that is how many heads rest on `[SEP]` without changing much (Kobayashi et al. 2020). The
weights *× |f(value)|* are $a^h_{ij} \lVert f^h(v_j) \rVert$, the length of each token's part; the
weights *× |value|* are $a^h_{ij} \lVert v^h_j \rVert$. Parts that point in different directions
cancel, so the lengths do not add up to the length of the sum:

$$
\Bigl\lVert \sum_j a^h_{ij} \, f^h(v_j) \Bigr\rVert \le \sum_j a^h_{ij} \lVert f^h(v_j) \rVert .
$$

*What one head moves*, on the anomaly page, gives both numbers.

*Renormalise rows* divides by the sum of a row over the tokens shown, $J$:
$\; a_{ij} / \sum_{j' \in J} a_{ij'}$.
"""
    )


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text; heads are measured, not listed."""
    last = trace.shape[0] - 1
    presets = []
    link = strongest_link(trace)
    if link is not None:
        query = quote(labels_of(trace.tokens)[link.query])
        key = quote(labels_of(trace.key_tokens)[link.key])
        words = "two words that are not neighbours"
        if trace.patches is not None:
            words = "two patches that do not touch"
        if trace.source is not None:
            words = "a word of the decoder and another one of your text"
        presets.append(
            Preset(
                "One head, one word" if trace.patches is None else "One head, one patch",
                f"{head_name(trace, link.layer, link.head)} gives {link.weight:.2f} of {query}'s"
                f" attention to {key}: the strongest link between {words}.",
                _state(trace, link.layer, heads=[link.head + 1], **{"from": [link.query + 1]}),
            )
        )
    if trace.source is None:
        presets.append(_token_before(trace))
    if trace.patches is None or trace.patches.first:
        presets += [_resting_layer(trace), _without_special(trace, last)]
    if trace.source is None and any(token.segment for token in trace.tokens):
        presets.append(
            Preset(
                "From one sentence to the other",
                "Only lines from the first sentence to the second, in layer"
                f" {trace.numbers[last]}.",
                _state(trace, last, pairs="ab", hide=True),
            )
        )
    return presets


def _without_special(trace: Trace, layer: int) -> Preset:
    hidden = special_tokens(trace)
    return Preset(
        f"Without {hidden}",
        f"What is left in layer {trace.numbers[layer]} when {hidden} are hidden and rows are"
        " divided by the sum of what remains.",
        _state(trace, layer, hide=True, renorm=True),
    )


def _token_before(trace: Trace) -> Preset:
    layer, head, value = strongest_head(trace, "previous")
    text = trace.patches is None
    looks = "back one token" if text else "one patch to the left"
    return Preset(
        "The token before" if text else "The patch to the left",
        f"{head_name(trace, layer, head)} looks {looks} more than any other head: on average"
        f" {value:.2f} of its attention.",
        _state(trace, layer, heads=[head + 1], what=True),
    )


def _resting_layer(trace: Trace) -> Preset:
    """The layer that gives most to special tokens and marks."""
    resting = find_heads(trace, "delimiters").scores.mean(axis=1)  # (layer,)
    layer = int(resting.argmax())
    shrinks = "times the length of the values, much of that shrinks."
    if trace.source is not None:
        shrinks = "times the length of the values, some of that may shrink."
    which = "special tokens, full stops and commas"
    if trace.patches is not None:
        which = special_tokens(trace)
        shrinks = "times the length of the values, how much of that is left?"
    return Preset(
        "What attention brings",
        f"Layer {trace.numbers[layer]} puts {resting.max():.0%} of its attention on {which};"
        f" {shrinks}",
        _state(trace, layer, weigh="value"),
    )


def _state(trace: Trace, layer: int, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - values of widgets
    """The page's whole state, as it is at first except for `layer` (from 0) and `changes`."""
    lists: dict[str, Any] = {key: [] for key in ("heads", "without", "from", "to")}
    if trace.source is not None:
        lists["without_keys"] = []
    switches = dict.fromkeys(("hide", "renorm", "what"), False)
    choices = {
        "layer": str(trace.numbers[layer]),
        "pairs": "all",
        "least": "auto",
        "weigh": "attention",
    }
    return choices | switches | lists | changes
