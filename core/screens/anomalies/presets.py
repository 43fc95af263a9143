"""Settings worth seeing, found by measuring this text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.anomalies import hollow_head, with_most
from core.screens.anomalies.wording import head_name
from core.ui.presets import Preset, show

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies import Row


def show_presets(table: pd.DataFrame) -> None:
    """Buttons that set the page's controls."""
    show("anomalies", lambda: _presets(table))


def _presets(table: pd.DataFrame) -> list[Preset]:
    resting = with_most(table, "first_attention")
    hollow = hollow_head(table)
    found = [
        Preset(
            "Attention, and what it moves",
            f"{head_name(hollow)} puts {hollow['first_attention']:.2f} on the first token, which"
            f" carries {hollow['first_contribution']:.2f} of what is moved.",
            _head(hollow, "moved", latent=False),
        ),
        Preset(
            "What lies beneath the sink",
            f"{head_name(resting)} rests most on the first token. Hide it: what is the rest of its"
            " attention about?",
            _head(resting, "moved", latent=True),
        ),
        Preset(
            "Layer by layer",
            "In which layers do heads rest on the first token, and in which do they not?",
            {"anomaly": "first", "counted": "attention"},
        ),
    ]
    if table["norm_log_ratio"].notna().any():
        uneven = with_most(table, "norm_log_ratio")
        longer = "queries" if uneven["norm_log_ratio"] > 0 else "keys"
        found.append(
            Preset(
                "The most uneven lengths",
                f"{head_name(uneven)}: its {longer} are"
                f" {2 ** abs(uneven['norm_log_ratio']):.1f} times as long as the other side's. At"
                " every position?",
                _head(uneven, "norms"),
            )
        )
    return [
        *found,
        Preset(
            "Massive activations",
            "Is there a token whose hidden state dwarfs the others, and from which layer on?",
            {"anomaly": "states", "size": "relative"},
        ),
    ]


def _head(one: Row, part: str, **more: bool) -> dict[str, str | bool]:
    return {"anomaly": part, "layer": str(one["layer"]), "head": str(one["head"]), **more}
