"""UMAP in a process of its own.

Importing UMAP compiles for seconds, holding Python's lock, and keeps 350 MB: a server that did so
itself would freeze every visitor and outgrow its memory. The process starts when UMAP is first
asked for, answers one request after the other, and ends after minutes without one.

Run as ``python -m core.analysis.umap_process``, this module is that process.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

IDLE_SECONDS = 300
# Rows from which UMAP searches neighbours approximately, for which it compiles half a minute when
# it is first asked: exact ones take less than a second.
MANY = 4096
_ROOT = Path(__file__).parents[2]
_LENGTH = struct.Struct("<Q")
_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None


class UmapError(RuntimeError):
    """UMAP could not lay out these points; the message says why."""


def fit_umap(
    rows: Floats, dimensions: int, neighbours: int, seed: int, metric: str = "euclidean"
) -> Floats:
    """UMAP of the rows, float64 (row, dimension); the same for the same input.

    `metric` is one of UMAP's own names, e.g. "euclidean" or "cosine".

    Raises
    ------
    UmapError
        When the process cannot be started, ends early, or UMAP refuses the points.
    """
    global _process  # noqa: PLW0603 - one process for all visitors
    settings = np.array([dimensions, neighbours, seed])
    request = _pack(rows=rows, settings=settings, metric=np.array(metric))
    with _lock:
        for attempt in range(2):
            try:
                if _process is None or _process.poll() is not None:
                    _process = _start()
                answer = _ask(_process, request)
                break
            except (OSError, EOFError) as error:  # it had just ended for want of work
                _process = None
                if attempt:
                    raise UmapError(f"The process of UMAP has ended: {error}") from error
    if "error" in answer:
        raise UmapError(str(answer["error"]))
    return np.asarray(answer["points"], dtype=np.float64)


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "core.analysis.umap_process"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _ask(process: subprocess.Popen[bytes], request: bytes) -> dict[str, NDArray[np.generic]]:
    if process.stdin is None or process.stdout is None:
        raise EOFError("no pipes")
    process.stdin.write(request)
    process.stdin.flush()
    return _unpack(process.stdout)


def _pack(**arrays: NDArray[np.generic]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    data = buffer.getvalue()
    return _LENGTH.pack(len(data)) + data


def _unpack(stream: IO[bytes]) -> dict[str, NDArray[np.generic]]:
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    with np.load(io.BytesIO(_read(stream, length)), allow_pickle=False) as arrays:
        return dict(arrays)


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the other side has ended")
    return data


def serve() -> None:
    """Answer requests from standard input on standard output until there are none."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not mix with the answers
    # A parent that ends closes the pipe: reading then ends, and so does this process.
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            idle = threading.Timer(IDLE_SECONDS, os._exit, [0])
            idle.daemon = True
            idle.start()
            request = _unpack(sys.stdin.buffer)
            idle.cancel()
            answers.write(_answer(request))
            answers.flush()


def _answer(request: dict[str, NDArray[np.generic]]) -> bytes:
    dimensions, neighbours, seed = (int(value) for value in request["settings"])
    rows = np.asarray(request["rows"], dtype=np.float32)
    try:
        from umap import UMAP

        metric = str(request["metric"])
        known = {}
        if len(rows) >= MANY:
            known["precomputed_knn"] = (*nearest_rows(rows, neighbours, metric), None)
        few = 4 * (dimensions + 1)  # the spectral start needs more points than dimensions
        points = UMAP(
            n_components=dimensions,
            n_neighbors=neighbours,
            metric=metric,
            init="random" if len(rows) < few else "spectral",
            random_state=seed,
            n_jobs=1,
            **known,
        ).fit_transform(rows)
    except Exception as error:  # noqa: BLE001 - told to the one who asked
        return _pack(error=np.array(f"{type(error).__name__}: {error}"))
    return _pack(points=np.asarray(points))


def nearest_rows(
    rows: NDArray[np.float32], neighbours: int, metric: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest rows of each row, itself first, and how far they are, (row, neighbour) each."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=neighbours, metric=metric, algorithm="brute").fit(rows)
    distances, indices = found.kneighbors(rows)
    return indices, distances


if __name__ == "__main__":
    serve()
