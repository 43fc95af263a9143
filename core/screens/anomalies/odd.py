"""High-norm patches of an image: how long their states are, and how much attention they draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.anomalies.flags import OUTLIER
from core.analysis.arrays import Floats
from core.analysis.images import odd_patches
from core.analysis.images.odd_patches import MIN_TIMES_MEDIAN, OddPatches
from core.analysis.images.patch_scores import cls_position, patches_of, register_positions
from core.figures.images.odd_patches import norms_by_layer, patch_picture
from core.figures.palette import Palette
from core.model import Trace
from core.model.trace import Patches
from core.screens.anomalies import cached
from core.screens.anomalies.open_head import show_what_moves
from core.screens.anomalies.wording import show_definition
from core.ui import controls, python
from core.ui.charts import show_chart
from core.ui.current import current_key
from core.ui.head_maps import show_head_map
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row
from core.vocabulary import head_name

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_NAMED = 5  # patches named in a sentence
_TAKERS = {"odd": "high-norm patches", "cls": "CLS", "registers": "registers"}


def show_odd(trace: Trace, _table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """The image with its high-norm patches, their lengths by layer, and what attends to them."""
    measured = cached.odd_patches(current_key(trace.model))
    found = python.made("odd", measured, python.call(odd_patches, trace))
    if found is None:
        st.info(
            "This model does not return a hidden state for each layer: there is nothing to measure."
        )
        return
    takers, patches = _takers(trace, found), patches_of(trace)
    if takers:
        with row:
            taker = controls.choice(
                "taker", takers, "Attention to", subject="On this image what takes attention is"
            )
    _show_pictures(trace, found, patches, colours)
    st.markdown(_verdict(trace, found, patches))
    st.markdown(_attention(trace, found))
    if takers:
        _show_map(trace, found, taker, colours)
    show_definition(
        "a patch is odd whose state after the last layer is much longer than those of the other"
        " patches of this image, as a multiple of their median and by the robust z of its length:"
        " no length is odd by itself.",
        "Darcet et al. 2024, whose threshold of 150 is for DINOv2 alone; Iglewicz and Hoaglin 1993"
        " for the robust z.",
        f"odd from {MIN_TIMES_MEDIAN:g} times the median length where z is above {OUTLIER:g} too"
        " (the least ratio is ours; those of Darcet et al. have roughly ten times the usual one).",
    )


def _show_map(trace: Trace, found: OddPatches, taker: str, colours: Palette) -> None:
    """The share of each head's attention that goes there."""
    shares, uniform = _shares(trace, found)[taker]
    show_head_map(
        trace,
        shares,
        f"attention to {_TAKERS[taker]}",
        colours,
        key="anomalies_odd_map",
        on_open=show_what_moves,
        bounds=(0.0, max(0.01, float(shares.max()))),
        title="share",
    )
    st.caption(
        f"Each square is a head: the share of its attention that goes to {_TAKERS[taker]}, mean"
        f" over all tokens (uniform baseline: {uniform:.3f}). Click one to see what it moves."
        " Registers give a model another place for what belongs to the whole image: models trained"
        " with them have no high-norm patches in Darcet et al. 2024. Compare a model with and"
        " without."
    )


def _takers(trace: Trace, found: OddPatches) -> dict[str, str]:
    """What is there to take attention, by its name in links."""
    there = {
        "odd": found.count > 0,
        "cls": cls_position(trace) is not None,
        "registers": bool(register_positions(trace)),
    }
    return {name: title for name, title in _TAKERS.items() if there[name]}


def _shares(trace: Trace, found: OddPatches) -> dict[str, tuple[Floats, float]]:
    """Attention to each, (layer, head), and what uniform attention would give."""
    one = 1 / len(trace.tokens)
    registers = len(register_positions(trace))
    return {
        "odd": (found.to_odd, found.uniform),
        "cls": (found.to_cls, one),
        "registers": (found.to_registers, registers * one),
    }


def _show_pictures(trace: Trace, found: OddPatches, patches: Patches, colours: Palette) -> None:
    """The image, the lengths over it, and the lengths by layer."""
    shape = patches.rows, patches.columns
    norms, odd = found.norms[:, patches.tokens], found.odd.reshape(shape)
    last = norms[-1].reshape(shape)
    image, heat, lines = st.columns([1, 1.15, 1.5], gap="medium")
    with image:
        figure = patch_picture(
            patches.pixels, last, odd, "High-norm patches framed", colours, heat=False
        )
        alt = f"The image with {found.count} high-norm patches framed"
        show_chart(figure, key="anomalies_odd_image", alt=alt, quiet=True)
    with heat:
        title = "Length after the last layer"
        figure = patch_picture(patches.pixels, last, odd, title, colours, heat=True)
        show_chart(figure, key="anomalies_odd_lengths", alt=title, quiet=True)
    with lines:
        cls, registers = cls_position(trace), register_positions(trace)
        others = {} if cls is None else {"CLS": found.norms[:, cls]}
        if registers:
            others["mean register"] = found.norms[:, registers].mean(axis=1)
        rows = ["input", *map(str, range(1, len(norms)))]
        figure = norms_by_layer(norms, found.odd, others, rows, colours)
        show_chart(figure, key="anomalies_odd_layers", alt="Lengths by layer", quiet=True)


def _verdict(trace: Trace, found: OddPatches, patches: Patches) -> str:
    last, z = found.norms[-1, patches.tokens], found.z[-1]
    longest = int(last.argmax())
    counts = found.odd_by_layer.sum(axis=1)
    by_layer = f" After each layer, from the input on: {', '.join(map(str, counts))}."
    name = quote(trace.tokens[patches.first + longest].display)
    measure = (
        f"{found.times[-1, longest]:.1f} times as long as the median patch (z = {z[longest]:.1f})"
    )
    if not found.count:
        return f"**No patch of this image is odd.** The longest, {name}, is {measure}.{by_layer}"
    order = [place for place in np.argsort(-last).tolist() if found.odd[place]]
    named = [quote(trace.tokens[patches.first + place].display) for place in order[:_NAMED]]
    more = [f"{len(order) - _NAMED} more"] if len(order) > _NAMED else []
    is_are = "patch is" if found.count == 1 else "patches are"
    return (
        f"**{found.count} of {patches.count:,} {is_are} odd**: {in_a_row([*named, *more])}. The"
        f" longest, {name}, is {measure}.{by_layer}"
    )


def _attention(trace: Trace, found: OddPatches) -> str:
    """What these patches, CLS and registers take, each beside its uniform baseline (Markdown)."""
    parts = []
    for name, (shares, uniform) in _shares(trace, found).items():
        if name not in _takers(trace, found):
            continue
        layer, head = divmod(int(shares.argmax()), shares.shape[1])
        parts.append(
            f"{_TAKERS[name]} **{shares.mean():.3f}** (uniform baseline {uniform:.3f}; at most"
            f" {shares.max():.2f}, in {head_name(trace, layer, head)})"
        )
    if not parts:
        return "This model has neither CLS nor registers, so all attention is on ordinary patches."
    return f"Of all attention, mean over heads: {in_a_row(parts)}."
