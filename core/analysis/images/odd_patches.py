"""Odd patches: much longer states than other patches', and the attention they draw.

Large vision transformers keep what belongs to the whole image in a few patches that show little of
it; registers give them another place (Darcet et al. 2024). Their threshold, a norm of 150, holds
for DINOv2 alone: here a patch is odd beside the other patches of its own image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.anomalies.flags import OUTLIER, robust_z
from core.analysis.arrays import one_thread
from core.analysis.images.patch_scores import cls_position, patches_of, register_positions

if TYPE_CHECKING:
    from core.analysis.arrays import Bools, Floats
    from core.model.trace import Trace


@dataclass(frozen=True, eq=False)
class OddPatches:
    """How long the states of an image's tokens are, and what the longest patches draw."""

    norms: Floats  # of all tokens, (layer + 1, token): row 0 is what the first layer receives
    z: Floats  # robust z of the patches among themselves, (layer + 1, patch)
    odd: Bools  # z above `OUTLIER` in the last row, (patch,)
    # Mean over all query tokens of the attention to odd patches, CLS and registers, (layer, head)
    to_odd: Floats
    to_cls: Floats  # 0 in models without
    to_registers: Floats  # likewise
    uniform: float  # what uniform attention gives the odd patches together

    @property
    def count(self) -> int:
        """How many patches are odd."""
        return int(self.odd.sum())


def odd_patches(trace: Trace) -> OddPatches | None:
    """The odd patches of an image; None where the model returns no hidden states.

    Odd are patches whose last state is longer than the others', by the distance from the median
    over the median absolute deviation, in units of a normal distribution's sd, of more than
    `OUTLIER` (Iglewicz and Hoaglin 1993). Shorter ones are not what Darcet et al. describe.
    `ValueError` for a text.
    """
    patches = patches_of(trace)
    if trace.hidden_states is None:
        return None
    norms = np.sqrt(np.square(trace.hidden_states, dtype=np.float64).sum(axis=-1))
    z = np.stack([robust_z(row[patches.tokens]) for row in norms])
    odd = np.asarray(z[-1] > OUTLIER)
    takers = np.zeros((len(trace.tokens), 3), dtype=np.float32)  # odd patches, CLS, registers
    takers[np.flatnonzero(odd) + patches.first, 0] = 1
    cls = cls_position(trace)
    takers[[] if cls is None else [cls], 1] = 1
    takers[register_positions(trace), 2] = 1
    shares = _mean_columns(trace) @ takers
    uniform = float(odd.sum() / len(trace.tokens))
    return OddPatches(norms, z, odd, shares[..., 0], shares[..., 1], shares[..., 2], uniform)


def _mean_columns(trace: Trace) -> Floats:
    """Mean attention to each token over all queries, (layer, head, token), a head at a time."""
    layers, heads, tokens, _ = trace.shape
    share = np.full(tokens, 1 / tokens, dtype=np.float32)
    with one_thread():
        columns = [
            [share @ trace.attention(layer, head) for head in range(heads)]
            for layer in range(layers)
        ]
    return np.array(columns, dtype=np.float64)
