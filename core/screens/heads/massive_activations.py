"""Hidden states: massive activations layer by layer, and high-norm patches of an image."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.analysis.anomalies.massive import HiddenStates, hidden_state_sizes
from core.analysis.images.high_norm_patches import HighNormPatches, high_norm_patches
from core.analysis.images.patch_scores import cls_position, patches_of, register_positions
from core.figures.layers import norms_by_layer, states_figure
from core.figures.palette import Palette
from core.figures.patch_heat import heat_pixels
from core.model import Trace
from core.model.trace import Patches
from core.screens.heads.card import show_definition
from core.screens.heads.measured import Heads
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.heads import gaps_note
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose
from core.vocabulary import labels_of

_words = Prose(__file__)
_MAX_FOUND = 16  # kept, each a few dozen numbers per head: 40 kB
_NAMED = 5  # tokens or patches named in a sentence


def show_massive_activations(heads: Heads, colours: Palette) -> None:
    """Show the map of lengths and what it reveals."""
    trace = heads.trace
    if trace.source is not None:
        st.info(_words("states_of_cross"))
        return
    states = hidden_state_sizes(trace)
    if states is None:
        st.info(_words("no_states"))
        return
    labels = labels_of(trace.tokens)
    rows = [f"after {layer}" if layer else "input" for layer in _layers_before(trace)]
    figure = states_figure(states.norms, states.largest, rows, labels, colours)
    show_chart(figure, key="anomalies_states", alt="length by layer and token", quiet=True)
    st.markdown(_massive(trace, states))
    st.caption(f"{_words('states')} {gaps_note(trace)}")
    show_definition(_words("massive_activation"))


def _massive(trace: Trace, states: HiddenStates) -> str:
    ratios = states.largest / np.maximum(states.typical, np.finfo(float).tiny)[:, None]
    row, token = (int(index) for index in np.unravel_index(ratios.argmax(), ratios.shape))
    massive = np.flatnonzero(states.massive.any(axis=0)).tolist()
    return _words(
        "massive_in",
        names=", ".join(quote(trace.tokens[each].display) for each in massive[:_NAMED]),
        this=trace.input.this,
        largest=states.largest[row, token],
        token=quote(trace.tokens[token].display),
        layer=_layers_before(trace)[row],
        ratio=ratios[row, token],
    )


def _layers_before(trace: Trace) -> list[int]:
    """For each hidden state, the number of the layer that it comes out of; 0 for the embeddings."""
    last = max(trace.depth or 0, trace.layer_labels[-1])
    return [*(number - 1 for number in trace.layer_labels), last]


@st.cache_resource(max_entries=_MAX_FOUND, show_spinner="Measuring every head …")
def _high_norm_patches(key: TraceKey) -> HighNormPatches | None:
    return high_norm_patches(cache.trace(*key))


def show_high_norm_patches(heads: Heads, colours: Palette) -> None:
    """Show the image and its high-norm patches, lengths by layer, and the attention they get."""
    trace, high = heads.trace, _high_norm_patches(heads.key)
    if high is None:
        st.info(_words("no_states"))
        return
    patches = patches_of(trace)
    _show_pictures(trace, high, patches, colours)
    st.markdown(f"{_verdict(trace, high, patches)} {_attention(trace, high)}")
    show_definition(_words("odd_patch"))


def _show_pictures(trace: Trace, high: HighNormPatches, patches: Patches, colours: Palette) -> None:
    """Show the image, and the lengths by layer."""
    norms = high.norms[:, patches.tokens]
    beyond = np.maximum(norms[-1] - np.median(norms[-1]), 0).astype(np.float32)
    frames = dict.fromkeys(np.flatnonzero(high.is_high).tolist(), colours.alert)
    image, lines = st.columns([1, 1.5], gap="medium")
    with image:
        pixels = heat_pixels(patches, beyond, st.context.theme.type or "light", frames)
        st.image(pixels, _words("framed", count=high.count), width="stretch")
    with lines:
        cls, registers = cls_position(trace), register_positions(trace)
        others = {} if cls is None else {"CLS": high.norms[:, cls]}
        if registers:
            others["mean register"] = high.norms[:, registers].mean(axis=1)
        rows = ["input", *map(str, range(1, len(norms)))]
        figure = norms_by_layer(norms, high.is_high, others, rows, colours)
        show_chart(figure, key="anomalies_odd_layers", alt="Lengths by layer", quiet=True)


def _verdict(trace: Trace, high: HighNormPatches, patches: Patches) -> str:
    last = high.norms[-1, patches.tokens]
    longest = int(last.argmax())
    odd = [place for place in np.argsort(-last).tolist() if high.is_high[place]]
    name, *named = (
        quote(trace.tokens[patches.first + place].display) for place in [longest, *odd[:_NAMED]]
    )
    return _words(
        "odd_patches",
        count=high.count,
        total=patches.count,
        named=", ".join(named),
        longest=name,
        times=high.times[-1, longest],
        z=high.z[-1, longest],
    )


def _attention(trace: Trace, high: HighNormPatches) -> str:
    """The attention to these patches, CLS and registers, with uniform baselines (Markdown)."""
    one, registers = 1 / len(trace.tokens), len(register_positions(trace))
    takers = {
        "high-norm patches": (high.to_high, high.uniform),
        "CLS": (high.to_cls, one * (cls_position(trace) is not None)),
        "registers": (high.to_registers, one * registers),
    }
    parts = [
        f"{taker} **{shares.mean():.3f}** (uniform baseline {uniform:.3f})"
        for taker, (shares, uniform) in takers.items()
        if uniform
    ]
    return f"Of all attention, mean over heads: {in_a_row(parts)}." if parts else ""
