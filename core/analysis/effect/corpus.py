"""Effects over the texts of a corpus, with intervals over texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.effect.table import (
    FALSE_DISCOVERY,
    NEGLIGIBLE,
    HeadEffects,
    facts_of,
    log_sizes,
    rates_of_logs,
)
from core.analysis.statistics import interval_of_mean
from core.vocabulary import Layered

if TYPE_CHECKING:
    import pandas as pd


def effect_corpus_table(
    layered: Layered, found: Sequence[HeadEffects], compared: Sequence[HeadEffects] = ()
) -> pd.DataFrame:
    """Whether each head matters over several texts, a row per head.

    Parameters
    ----------
    layered : a trace of the same model, for the layer numbers.
    found : from :func:`core.model.effects`, one per text, all with the same measure.
    compared : the same for texts on which random directions were tried too, the same ones on all.

    Columns ``layer`` and ``head`` (from 1); ``effect``, its typical size: the geometric mean over
    texts, with ``low`` and ``high``, the 95 % interval over texts
    (:func:`core.analysis.statistics.interval_of_mean` of the logarithms: with raw sizes, a few
    texts would decide the mean). With `compared`: ``times``, how many times the typical size
    of its directions the effect is on these texts; ``rate``, the false discovery rate at which it
    exceeds chance (:func:`core.analysis.effect.table.rates_of_logs` of the means over texts);
    ``exceeds``, whether that is at most `FALSE_DISCOVERY` and ``effect`` at least `NEGLIGIBLE` of
    the largest. A head that a layer does not have is nan.
    ``table.attrs`` has "measure", "unit" and "replace" of the effects, "texts" and "compared" (how
    many of each), and "draws", the number of directions.

    Raises
    ------
    ValueError
        If there are no texts.
    """
    import pandas as pd

    if not found:
        raise ValueError("there is no text")
    values = np.stack([each.values for each in found])  # noqa: PD011 - of no data frame
    logs = np.concatenate([log_sizes(each, values[:0]) for each in values])  # (text, layer, head)
    effect = np.exp(logs.mean(axis=0))
    low, high = np.exp(interval_of_mean(logs))
    layers, heads = values.shape[1:]
    layer, head = np.divmod(np.arange(layers * heads), heads)
    grids: dict[str, NDArray[Any]] = {"effect": effect, "low": low, "high": high}
    if compared:
        compared_logs = np.mean([log_sizes(each.values, each.draws) for each in compared], axis=0)
        rate = rates_of_logs(compared_logs)
        grids |= {
            "times": np.exp(compared_logs[0] - compared_logs[1:].mean(axis=0)),
            "rate": rate,
            "exceeds": (rate <= FALSE_DISCOVERY) & (effect >= NEGLIGIBLE * np.nanmax(effect)),
        }
    labels = np.array(layered.layer_labels)[layer]
    columns = {name: grid.ravel() for name, grid in grids.items()}
    table = pd.DataFrame({"layer": labels, "head": head + 1, **columns})
    table.attrs |= facts_of(found[0]) | {
        "texts": len(found),
        "compared": len(compared),
        "draws": len(compared[0].draws) if compared else 0,
    }
    return table
