"""The search for a and c over a whole model, and against the loop of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.normalization import NOTEBOOK_A, NOTEBOOK_C, grid_search
from core.analysis.query_key.scaling import scale_model
from core.model import DEFAULT_MODEL, load, trace_text
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.timing import by_turns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model import Trace

    Floats = NDArray[np.float64]

REPETITIONS = few({13: 20, 512: 5}, {13: 1})  # by the number of tokens
LIMIT_S = {13: 0.5, 512: 3.0}  # every layer's grid and every head's curve
LEAST_GAIN = 20  # times faster than the loop
SAME = 1e-6  # of a correlation
A_VALUES, C_VALUES = np.linspace(*NOTEBOOK_A), np.linspace(*NOTEBOOK_C)


def run() -> None:
    """Whole model at two lengths; then the notebook's grid, both ways by turns."""
    model = load(DEFAULT_MODEL)
    for tokens, times in REPETITIONS.items():
        trace = trace_text(model, sentence_of(tokens))
        (taken,) = by_turns(times, lambda trace=trace: _search_all(trace))  # type: ignore[misc]
        name = f"{tokens} tokens: grids of all layers, curves of all heads"
        show(name, [each / 1e3 for each in taken], "s", LIMIT_S[tokens])
        for criterion in ("weighted", "spearman"):
            (taken,) = by_turns(
                few(3, 1),
                lambda trace=trace, by=criterion: scale_model(trace, "euclidean", by),  # type: ignore[misc]
            )
            show(f"{tokens} tokens: curves, {criterion}", [each / 1e3 for each in taken], "s")
        _compare(trace, tokens, times)


def _search_all(trace: Trace) -> None:
    _search_layers(trace)
    scale_model(trace)


def _search_layers(trace: Trace) -> list[Floats]:
    return [
        grid_search(queries, keys, A_VALUES, C_VALUES).surface
        for queries, keys in zip(trace.queries, trace.keys, strict=True)
    ]


def _compare(trace: Trace, tokens: int, times: int) -> None:
    ours, theirs = np.array(_search_layers(trace)), np.array(_loop_layers(trace))
    worst = float(np.abs(ours - theirs).max())
    if worst > SAME:
        raise ValueError(f"the two searches differ by {worst:.1e}")
    loop, vectorised = by_turns(times, lambda: _loop_layers(trace), lambda: _search_layers(trace))
    show(f"{tokens} tokens: notebook's grid, as a loop", loop, "ms")
    show(f"{tokens} tokens: the same grid here", vectorised, "ms")
    ratios = [slow / fast for slow, fast in zip(loop, vectorised, strict=True)]
    show(f"{tokens} tokens: loop / here (wanted: {LEAST_GAIN} or more)", ratios, "x")


def _loop_layers(trace: Trace) -> list[Floats]:
    return [_loop(queries, keys) for queries, keys in zip(trace.queries, trace.keys, strict=True)]


def _loop(queries: NDArray[np.float32], keys: NDArray[np.float32]) -> Floats:
    """The notebook's way: every grid point scales, reshapes, multiplies and correlates anew."""
    surface = np.zeros((A_VALUES.size, C_VALUES.size))
    for i, a in enumerate(A_VALUES):
        for j, c in enumerate(C_VALUES):
            moved = (c * queries).reshape(-1, queries.shape[-1])
            shifted = ((keys + a) / c).reshape(-1, keys.shape[-1])
            products = (moved * shifted).sum(axis=1)
            lengths = np.linalg.norm(moved, axis=1) * np.linalg.norm(shifted, axis=1)
            surface[i, j] = np.corrcoef(products, 1 - products / lengths)[0, 1]
    return surface
