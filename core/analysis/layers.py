"""The layout of layers in a picture. In hybrid models only some of them attend."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from core.vocabulary import Layered, listed, without_attention

GAP = 0.5  # height of a gap in a picture, in rows


@dataclass(frozen=True)
class Gap:
    """Neighbouring layers that do not attend, and the middle of their gap in a picture."""

    place: float
    first: int
    last: int

    @property
    def name(self) -> str:
        """Their numbers: "3" or "3–5"."""
        return listed(range(self.first, self.last + 1))


@dataclass(frozen=True)
class LayerRows:
    """Where layers stand in a picture with one row for each, of height 1; the first is at 1.

    Attributes
    ----------
    layer_labels, places : number and middle of each layer that attends.
    gaps : thin rows for the layers between, before and after.
    end : the middle of a row that would end where the last row or gap does.
    """

    layer_labels: tuple[int, ...]
    places: tuple[float, ...]
    gaps: tuple[Gap, ...]
    end: float


def place_layers(layered: Layered, gap: float = GAP) -> LayerRows:
    """A row for each layer that attends, and a gap of height `gap` for those in between."""
    silent = set(without_attention(layered))
    places, gaps, end = [], [], 0.5
    for is_gap, group in groupby(sorted({*layered.layer_labels, *silent}), silent.__contains__):
        layer_labels = list(group)
        if is_gap:
            gaps.append(Gap(end + gap / 2, layer_labels[0], layer_labels[-1]))
            end += gap
        else:
            places += [end + 0.5 + place for place in range(len(layer_labels))]
            end += len(layer_labels)
    return LayerRows(layered.layer_labels, tuple(places), tuple(gaps), end - 0.5)
