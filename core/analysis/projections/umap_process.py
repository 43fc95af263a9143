"""UMAP in a process of its own.

UMAP compiles for seconds while holding Python's lock, and takes 250 MB: in the server itself it
would freeze every visitor. Run as ``python -m``, this module is the process that answers requests
one by one, exits after ten seconds without one, and is started again when needed.
Compiled code is cached in a folder: a process that had to compile, which takes 100 MB more, exits
after its answer, and the next is ready in two seconds.

Our own rather than loky's: when idle, loky keeps 55 MB of helpers, and a server that shuts down
waits for the current layout. A spawned ``concurrent.futures`` pool stays, and reruns the page.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats

IDLE_SECONDS = 10  # while idle it holds 240 MB
LIMIT_SECONDS = 600  # for one request, and for waiting for those of others
ATTEMPTS = 3  # per request: the process may just have gone idle, and may be killed once
CACHE = "NUMBA_CACHE_DIR"  # where compiled code is kept for the next process
_PROBLEMS = {
    "start": "UMAP cannot be started on this server.",
    "memory": "There is too little memory for UMAP of these points.",
    "points": "UMAP refused these points.",
    "killed": f"UMAP was stopped {ATTEMPTS} times before it was done, probably because the server"
    " has too little memory for it.",
    "late": "UMAP of these points took too long.",
    "busy": "UMAP is busy with the points of others: try again later.",
}
_LATE = ("decomposition", "manifold", "metrics", "neighbors", "preprocessing")  # of scikit-learn
_CURVE = {"a": 1.5769435, "b": 0.8950609}  # what UMAP fits to its default distances, 0.1 and 1
_ROWS_AT_ONCE = 64
_ROOT = Path(__file__).parents[3]
_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None
_ending = threading.Event()  # the server is shutting down: start nothing any more
_log = logging.getLogger(__name__)


class NoSearch:
    """Stands in for the pynndescent index that UMAP expects; it never searches itself."""


class ProjectionError(RuntimeError):
    """A projection failed; the message is for visitors, without paths or library texts."""


def fit_umap(
    rows: Floats, dimensions: int, neighbours: int, seed: int, metric: str = "euclidean"
) -> Floats:
    """UMAP of the rows, float64 (row, dimension); the same for the same input.

    Raises `ProjectionError` if the process cannot be started, is killed every time, takes too
    long or is busy for too long, or UMAP rejects the points. The next call starts it again.
    """
    if not _lock.acquire(timeout=LIMIT_SECONDS):
        raise ProjectionError(_PROBLEMS["busy"])
    try:
        answer = _ask(rows, dimensions, neighbours, seed, metric)
    finally:
        _lock.release()
    if isinstance(answer, str):
        raise ProjectionError(_PROBLEMS[answer])
    return answer.astype(np.float64)


def _ask(*request: object) -> Floats | str:
    """The points, or a key of `_PROBLEMS`."""
    global _process  # noqa: PLW0603 - one process for all visitors
    for attempt in range(1, ATTEMPTS + 1):
        if _process is None or _process.poll() is not None:
            try:
                _process = (
                    subprocess.Popen(  # its libraries print only numbers, to the server's log
                        [sys.executable, "-m", "core.analysis.projections.umap_process"],
                        cwd=_ROOT,
                        env={CACHE: _cache_folder(), **os.environ},
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                    )
                )
            except OSError as error:
                _log.warning("UMAP cannot be started: %s", error)
                return "start"
        late = time.monotonic() + LIMIT_SECONDS
        limit = threading.Timer(LIMIT_SECONDS, _process.kill)
        limit.daemon = True
        limit.start()
        try:
            stdin, stdout = cast("IO[bytes]", _process.stdin), cast("IO[bytes]", _process.stdout)
            pickle.dump(request, stdin)
            stdin.flush()
            return cast("Floats | str", pickle.load(stdout))  # noqa: S301 - of our own process
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            _process.kill()
            status = _process.wait()
            if _ending.is_set():
                return "start"
            if time.monotonic() >= late:
                return "late"
            if status:  # otherwise it has just exited by itself
                _log.warning("UMAP ended, status %d, attempt %d: %s", status, attempt, error)
        finally:
            limit.cancel()
    return "killed"


@functools.cache
def _cache_folder() -> str:
    """A private folder for what numba compiles, removed when the server shuts down.

    Numba's own defaults, in the installation or the home folder, may be read-only.
    """
    folder = tempfile.mkdtemp(prefix="umap-")  # readable by this user only
    atexit.register(_end, folder)
    return folder


def _end(folder: str) -> None:
    _ending.set()
    if _process is not None:
        _process.kill()  # otherwise it would write into the folder again
        _process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def serve() -> None:
    """Answer requests from standard input on standard output until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    # When the parent exits, the pipe closes and this process exits too.
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            idle = threading.Timer(IDLE_SECONDS, os._exit, [0])
            idle.daemon = True
            idle.start()
            request = pickle.load(sys.stdin.buffer)  # noqa: S301 - the server's
            idle.cancel()
            compiled = _count_compiled()
            pickle.dump(_answer(*request), answers)
            answers.flush()
            if _count_compiled() > compiled:
                break


def _count_compiled() -> int:
    """The number of compiled functions in numba's folder."""
    return sum(1 for _ in Path(os.environ[CACHE]).rglob("*.nbc"))


def _answer(
    rows: Floats, dimensions: int, neighbours: int, seed: int, metric: str
) -> NDArray[np.generic] | str:
    """The points, or a key of `_PROBLEMS`; the log has the details."""
    problem = "start"
    try:
        umap = lean_umap()
        problem = "points"
        return _fit(umap, rows.astype(np.float32), dimensions, neighbours, seed, metric)
    except MemoryError:
        traceback.print_exc()
        return "memory" if problem == "points" else problem
    except Exception:  # noqa: BLE001 - nothing may end the process
        traceback.print_exc()
        return problem


@functools.cache
def lean_umap() -> type:
    """UMAP without what computing a layout never calls; all that it compiles is kept.

    `nearest_rows` replaces pynndescent, which compiles for 15 s. What few layouts call is imported
    only when called. scikit-learn looks for pandas only to recognise its tables; importing it
    would cost another 155 MB.
    """
    import numba

    numba.njit = functools.partial(numba.njit, cache=True)
    uncalled: dict[str, dict[str, object]] = {
        "pynndescent": {"NNDescent": NoSearch},
        "pynndescent.distances": {"named_distances": {}},
        "pynndescent.sparse": {"sparse_named_distances": {}},
        "scipy.stats": {"__getattr__": lambda _: None},
    }
    late: dict[str, dict[str, object]] = {
        module: {"__getattr__": functools.partial(_when_called, module)}
        for module in ("scipy.optimize", *(f"sklearn.{name}" for name in _LATE))
    }
    late["sklearn.metrics.pairwise"] = {"_VALID_METRICS": ()}  # only used for sparse vectors
    for name, names in (uncalled | late).items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(names)
    sys.modules["pandas"] = None  # type: ignore[assignment]  # importing it fails
    from umap import UMAP

    for name in ("pandas", *late):
        del sys.modules[name]
    return cast("type", UMAP)


def _when_called(module: str, name: str) -> Callable[..., object]:
    """The function or class of that name; its module is imported on the first call."""

    def call(*given: object, **named: object) -> object:
        return getattr(import_module(module), name)(*given, **named)

    return call


def _fit(
    umap: type,
    rows: NDArray[np.float32],
    dimensions: int,
    neighbours: int,
    seed: int,
    metric: str,
) -> NDArray[np.generic]:
    spectral = len(rows) >= 4 * (dimensions + 1)  # it needs more points than dimensions
    fitted = umap(
        n_components=dimensions,
        n_neighbors=neighbours,
        metric=metric,
        init="spectral" if spectral else "random",
        random_state=seed,
        n_jobs=1,
        **_CURVE,
        precomputed_knn=(*nearest_rows(rows, neighbours, metric), NoSearch()),
    ).fit_transform(rows)
    return np.asarray(fitted)


def nearest_rows(
    rows: NDArray[np.float32], neighbours: int, metric: str
) -> tuple[NDArray[np.int64], Floats]:
    """Each row's nearest rows, itself first, and their distances, (row, neighbour) each.

    The distance to itself is exactly 0, without rounding error: UMAP takes the smallest above 0 as
    that of the nearest other row.
    """
    points = rows.astype(np.float64)
    if metric == "cosine":
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(float).tiny)
    squares = (points**2).sum(axis=1)
    indices = np.empty((len(rows), neighbours), dtype=np.int64)
    distances = np.empty(indices.shape)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        block = np.arange(start, min(start + _ROWS_AT_ONCE, len(rows)))
        to_all = np.maximum(squares[block, None] + squares - 2 * points[block] @ points.T, 0)
        to_all[np.arange(block.size), block] = -1  # itself before any duplicates
        near = np.argpartition(to_all, neighbours - 1, axis=1)[:, :neighbours]
        order = np.take_along_axis(to_all, near, axis=1).argsort(axis=1, kind="stable")
        indices[block] = np.take_along_axis(near, order, axis=1)
        distances[block] = np.take_along_axis(to_all, indices[block], axis=1)
    distances[:, 0] = 0
    return indices, distances / 2 if metric == "cosine" else np.sqrt(distances)


if __name__ == "__main__":
    serve()
