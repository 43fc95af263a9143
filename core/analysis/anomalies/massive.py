"""Massive activations: tokens whose hidden states are far longer than the others'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools, Floats
from core.model.trace import Trace

# Sun et al. 2024 ("Massive Activations in Large Language Models", section 2): an activation is
# massive if it is above 100 and above about 1,000 times the median magnitude of its layer.
MIN_ACTIVATION, MIN_TIMES_MEDIAN = 100.0, 1000.0


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """How large the hidden states are; row 0 is the input of the first layer."""

    norms: Floats  # length of each token's state, (layer + 1, token), in the model's own units
    largest: Floats  # largest magnitude of any activation in the state, (layer + 1, token)
    typical: Floats  # median magnitude of all activations of the layer, (layer + 1,)

    @property
    def massive(self) -> Bools:
        """Which states hold a massive activation as Sun et al. define it, (layer + 1, token)."""
        return (self.largest > MIN_ACTIVATION) & (
            self.largest >= MIN_TIMES_MEDIAN * self.typical[:, None]
        )


def hidden_state_sizes(trace: Trace) -> HiddenStates | None:
    """Sizes of the hidden states; None if the model does not return them."""
    if trace.hidden_states is None:
        return None
    magnitudes = np.abs(trace.hidden_states)
    return HiddenStates(
        norms=np.sqrt(np.square(magnitudes, dtype=np.float64).sum(axis=-1)),
        largest=magnitudes.max(axis=-1).astype(np.float64),
        typical=np.median(magnitudes, axis=(1, 2)).astype(np.float64),
    )
