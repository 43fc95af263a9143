"""Massive activations: tokens whose hidden states are far longer than the others'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Trace

    Floats = NDArray[np.float64]

# Sun et al. 2024 ("Massive Activations in Large Language Models", section 2): a number of a hidden
# state is massive when it is beyond 100 and about 1,000 times the median magnitude of its layer.
LEAST_ACTIVATION, LEAST_TIMES_MEDIAN = 100.0, 1000.0
# Ours: a hidden state this many times as long as the layer's median token is told as long.
LONG_STATE = 5.0


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """How large the hidden states are; row 0 is what the first layer receives.

    Attributes
    ----------
    norms : length of each token's hidden state, (layer + 1, token), in the model's own units.
    relative : the same over the median of its row; not a number where that is 0.
    largest : largest magnitude of any number of the state, (layer + 1, token).
    typical : median magnitude of all numbers of the layer, (layer + 1,).
    """

    norms: Floats
    relative: Floats
    largest: Floats
    typical: Floats

    @property
    def massive(self) -> NDArray[np.bool_]:
        """Which states hold a massive activation as Sun et al. define it, (layer + 1, token)."""
        return (self.largest > LEAST_ACTIVATION) & (
            self.largest >= LEAST_TIMES_MEDIAN * self.typical[:, None]
        )

    @property
    def long(self) -> NDArray[np.bool_]:
        """Which states are `LONG_STATE` times as long as their layer's median token or more."""
        return np.asarray(np.nan_to_num(self.relative) >= LONG_STATE)


def hidden_states(trace: Trace) -> HiddenStates | None:
    """Sizes of the hidden states; None where the model does not tell them."""
    if trace.hidden_states is None:
        return None
    magnitudes = np.abs(trace.hidden_states)
    norms = np.sqrt(np.square(magnitudes, dtype=np.float64).sum(axis=-1))
    median = np.median(norms, axis=1, keepdims=True)
    return HiddenStates(
        norms=norms,
        relative=np.divide(norms, median, out=np.full(norms.shape, np.nan), where=median > 0),
        largest=magnitudes.max(axis=-1).astype(np.float64),
        typical=np.median(magnitudes, axis=(1, 2)).astype(np.float64),
    )
