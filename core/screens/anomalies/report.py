"""The page's report: flagged heads, maps, all measures and definitions, in one HTML file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.anomalies import FLAGS, as_map, flagged
from core.analysis.anomalies.flags import OUTLIER
from core.analysis.arrays import Floats
from core.analysis.layers import rows_of
from core.components.export import made_by, theme_variables
from core.model import Trace
from core.screens.anomalies.wording import threshold, values_note
from core.ui.attention_types import NAMES
from core.ui.cache import TraceKey
from core.ui.head_maps import gaps_note
from core.ui.words.prose import Prose, fill_page

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
_MAPS = {
    "unusual": "Farthest measure: robust z",
    "norm_log_ratio": "log2 of median |q| over median |k|",
    "first_attention": "Attention to the first token",
    "first_contribution": "The first token's share of what the head moves",
    "null_attention": "Null attention: attention to values nearly zero",
    "entropy": "Relative entropy",
}


def make_report(trace: Trace, key: TraceKey, table: pd.DataFrame, facts: Mapping[str, Any]) -> str:
    """The whole file. What people typed is escaped; nothing is fetched, nothing runs."""
    typed = table.attrs["where"] == f"this {key.modality}"
    text = _texts(trace, key) if typed else f"Measured on {table.attrs['where']}"
    if typed and key.image is not None:
        text = f"Image: {facts.get('image', '')}"
    cut = {"dropped": trace.dropped, "at_least": bool(trace.cut_characters)}
    read = 0 if trace.source is None else len(trace.source)
    return fill_page(
        Path(__file__).with_name("report.html"),
        model=trace.model,
        meta=json.dumps(facts),
        variables=theme_variables(),
        text=text,
        size=_words("size", shape=trace.shape, typed=typed, cut=cut, read=read),
        values=values_note(table),
        heads=range(1, trace.shape[1] + 1),
        maps=[(caption, *_map(as_map(table, name), trace)) for name, caption in _MAPS.items()],
        gaps=gaps_note(trace),
        odd=flagged(table).to_dict("records"),
        total=len(table),
        unusual=_words("unusual", z=OUTLIER).replace("**", ""),
        flags=[(flag, threshold(name, trace)) for name, flag in FLAGS.items()],
        measures=table.drop(columns=["flags", "reasons", "unusual_by"]).to_dict("records"),
        made_by=made_by(facts),
    )


def _texts(trace: Trace, key: TraceKey) -> str:
    """What was typed; of an encoder-decoder, which attention this is and what its decoder read."""
    texts = [key.text, key.pair]
    if trace.attention_type in {"decoder", "cross"}:
        read = " ".join(token.display for token in trace.tokens)
        texts.append(f"The decoder reads: {read}")
    if key.attention_type is not None:
        texts.append(f"Attention: {NAMES[key.attention_type]}")
    return " | ".join(filter(None, texts))


def _map(values: Floats, trace: Trace) -> tuple[list[Any], float]:
    """The rows of a map, a layer or a gap each, from above, and the value of the full colour.

    A row is its heading and its values, None where one is not defined; a gap has no values.
    """
    layers = rows_of(trace)
    defined = [[each if np.isfinite(each) else None for each in row] for row in values.tolist()]
    named = zip(layers.layer_labels, defined, strict=True)
    placed: dict[float, Any] = dict(zip(layers.places, named, strict=True))
    placed |= {gap.place: (gap.name, None) for gap in layers.gaps}
    top = max(1.0, float(np.nanmax(np.abs(values), initial=0)))
    return [placed[place] for place in sorted(placed)], top
