"""Which heads stand out among a model's own: a flag that most heads have says little of one.

Trained transformers rest on the first token and on values that are nearly zero: in bundled/minilm
more than half of the heads do on a short text. Those flags (`Flag.usual`) make a head stand out
only as an outlier among the model's heads; any other also where few heads have it.
"""

from __future__ import annotations

import numpy as np

from core.analysis.anomalies.flags import FLAGS, OUTLIER, Measures, robust_z
from core.analysis.arrays import Bools, Floats

# A flag that at most this share of the heads have, or one head alone, makes them stand out.
FEW = 0.1


def standing_out(measures: Measures) -> dict[str, Bools]:
    """By flag, which heads stand out by it, (layer, head) each."""
    chosen = {}
    for name, flag in FLAGS.items():
        raised, values = flag.raised(measures), measures[flag.measure]
        side = -OUTLIER if flag.limits.side == "below" else OUTLIER
        outliers = flag.limits.passed(robust_z(values), side)
        few = not flag.usual and raised.sum() <= max(1, FEW * raised.size)
        chosen[name] = raised & (outliers | few)
    return chosen


def unusualness(measures: Measures) -> Floats:
    """How far each head's flagged measures lie from ordinary, the rarer a flag the more.

    The strength of each flag in units of its threshold's distance, times log2 of all heads over
    those that have it, in bits; of flags with one cause the largest counts. (layer, head); a flag
    that all heads have adds nothing, and one that 1 of 64 has 6 times its strength.
    """
    by_cause: dict[tuple[str, str], Floats] = {}
    for name, flag in FLAGS.items():
        raised = flag.raised(measures)
        bits = np.log2(raised.size / max(1, int(raised.sum())))
        strength = np.where(raised, flag.strength(measures[flag.measure]) * bits, 0.0)
        cause = flag.kind, flag.cause or name
        by_cause[cause] = np.maximum(by_cause.get(cause, 0.0), strength)
    return np.sum(list(by_cause.values()), axis=0, dtype=np.float64)
