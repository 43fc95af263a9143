"""Settings worth seeing on this text, and the mathematics behind the anomaly page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.anomalies import Row, hollow_head, max_row
from core.model import Trace
from core.screens.anomalies.wording import row_name
from core.ui.presets import Preset
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)


def examples(trace: Trace, table: pd.DataFrame) -> list[Preset]:
    """Views worth seeing of what was measured; cross attention has no hidden states."""
    resting, hollow = max_row(table, "first_attention"), hollow_head(table)
    first = trace.input.first
    moves = _words(
        "moves",
        head=row_name(hollow),
        attention=hollow["first_attention"],
        first=first,
        moved=hollow["first_contribution"],
    )
    beneath = _words("beneath", head=row_name(resting), first=first)
    presets = [
        Preset("High-norm patches", _words("high_norm"), {"anomaly": "odd"}),
        Preset("Attention, and what it moves", moves, _open(hollow, "moved", latent=False)),
        Preset(f"Why heads rest on {first}", beneath, _open(resting, "moved", latent=True)),
        Preset("Massive activations", _words("massive"), {"anomaly": "states"}),
    ]
    missing = _missing(trace)
    return [each for each in presets if each.state["anomaly"] not in missing]


def _open(row: Row, part: str, **more: bool) -> dict[str, str | bool]:
    return {"anomaly": part, "layer": str(row["layer"]), "head": str(row["head"]), **more}


def mathematics(trace: Trace) -> str:
    """The definitions, and where they come from, of this kind of attention."""
    return _words("mathematics", patches=trace.input.kind == "image")


def _missing(trace: Trace) -> set[str]:
    """Only patches can have high norms; cross attention has no hidden states of its own."""
    return {"text": {"odd"}, "cross": {"odd", "states"}, "image": set[str]()}[trace.input.kind]
