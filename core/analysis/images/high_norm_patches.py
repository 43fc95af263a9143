"""High-norm patches: states much longer than other patches', and the attention they receive.

Large vision transformers store what concerns the whole image in a few patches that show little of
it; registers give it another place (Darcet et al. 2024). Their threshold, a norm of 150, is only
valid for DINOv2: here a patch is compared with the other patches of its own image, by two rules. A
robust z alone is not enough: on an even background, states are so alike that 1.2 times the median
is already many deviations above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.anomalies.contribution import over_median
from core.analysis.arrays import Bools, Floats, one_thread
from core.analysis.images.patch_scores import cls_position, patches_of, register_positions
from core.analysis.statistics import OUTLIER, robust_z
from core.model.trace import Trace

# Ours: times the median length of the patches. The artifacts of Darcet et al. have roughly ten
# times the usual norm (section 1). On the sample images, bundled/vit-scenes ends with up to 3
# patches beyond `OUTLIER`, none of them longer than 1.3 times the median.
MIN_TIMES_MEDIAN = 2.0


@dataclass(frozen=True, eq=False)
class HighNormPatches:
    """How long the states of an image's tokens are, and how much attention the longest receive."""

    norms: Floats  # of all tokens, (layer + 1, token): row 0 is what the first layer receives
    z: Floats  # robust z of each patch among the patches, (layer + 1, patch)
    times: Floats  # their length over the patches' median, (layer + 1, patch)
    # Attention to these patches, CLS and registers, mean over all query tokens, (layer, head)
    to_high: Floats
    to_cls: Floats  # 0 in models without CLS
    to_registers: Floats  # likewise
    uniform: float  # what uniform attention gives the high-norm patches in total

    @property
    def is_high(self) -> Bools:
        """Which patches have a high norm after the last layer, (patch,)."""
        return _has_high_norm(self.z[-1], self.times[-1])

    @property
    def count(self) -> int:
        """How many patches have a high norm."""
        return int(self.is_high.sum())


def high_norm_patches(trace: Trace) -> HighNormPatches | None:
    """The high-norm patches of an image; None if the model returns no hidden states.

    A patch is one if its last state is at least `MIN_TIMES_MEDIAN` times as long as the patches'
    median, and farther from it than `OUTLIER` times the median absolute deviation, in units of a
    normal distribution's sd (Iglewicz and Hoaglin 1993). Shorter ones are not what Darcet et al.
    describe.
    `ValueError` for a text.
    """
    patches = patches_of(trace)
    if trace.hidden_states is None:
        return None
    norms = np.sqrt(np.square(trace.hidden_states, dtype=np.float64).sum(axis=-1))
    z = np.stack([robust_z(row[patches.tokens]) for row in norms])
    times = over_median(norms[:, patches.tokens])
    is_high = _has_high_norm(z[-1], times[-1])
    takers = np.zeros((len(trace.tokens), 3), dtype=np.float32)  # high-norm patches, CLS, registers
    takers[np.flatnonzero(is_high) + patches.first, 0] = 1
    cls = cls_position(trace)
    takers[[] if cls is None else [cls], 1] = 1
    takers[register_positions(trace), 2] = 1
    shares = _mean_columns(trace) @ takers
    uniform = float(is_high.sum() / len(trace.tokens))
    return HighNormPatches(norms, z, times, shares[..., 0], shares[..., 1], shares[..., 2], uniform)


def _has_high_norm(z: Floats, times: Floats) -> Bools:
    return np.asarray((z > OUTLIER) & (times >= MIN_TIMES_MEDIAN))


def _mean_columns(trace: Trace) -> Floats:
    """Mean attention to each token over all queries, (layer, head, token), one head at a time."""
    layers, heads, tokens, _ = trace.shape
    share = np.full(tokens, 1 / tokens, dtype=np.float32)
    with one_thread():
        columns = [
            [share @ trace.attention(layer, head) for head in range(heads)]
            for layer in range(layers)
        ]
    return np.array(columns, dtype=np.float64)
