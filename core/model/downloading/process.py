"""Downloading the files of one model, as a process: ``python -m core.model.downloading.process``.

Reads one line of JSON, fetches the files it names and no others into the hub client's cache, and
answers with the folder, or with what went wrong. Only when all files are there, each of the size
that was announced, does the cache hear that the model is here. Ends when its input does: nobody is
left who waits.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

_MARGIN_BYTES = 1_000_000  # beyond the largest file: references and locks are files too
_GRACE_SECONDS = 5.0  # to put an unfinished file away


class _SizeError(Exception):
    """A file is not of the size that was announced."""


def main() -> None:
    """Fetch, and say how it went."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not mix with the answer
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `finally` runs
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        answer = {"folder": str(_fetch(request))}
    except Exception as error:  # noqa: BLE001 - the parent says it in a sentence
        answer = {"failure": _in_words(error)}
    json.dump(answer, answers)
    answers.flush()


def _fetch(request: dict[str, Any]) -> Path:
    from huggingface_hub import hf_hub_download

    files = sorted(request["files"], key=lambda file: file[1])  # what is small may refuse early
    _limit_files(max(size for _, size in files) + _MARGIN_BYTES)
    folder = Path()
    for name, size in files:
        path = Path(
            hf_hub_download(
                request["repo"],
                name,
                revision=request["revision"],
                cache_dir=request["cache"],
                endpoint=request["endpoint"],
                token=request["token"],
            )
        )
        folder = path.parent
        if path.stat().st_size != size:
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise _SizeError
    _say_it_is_here(folder, request["revision"])
    return folder


def _say_it_is_here(snapshot: Path, revision: str) -> None:
    """Point the cache's ``refs/main`` to the complete snapshot, in one step."""
    reference = snapshot.parents[1] / "refs" / "main"
    reference.parent.mkdir(parents=True, exist_ok=True)
    new = reference.with_name(f"main.{os.getpid()}.tmp")
    new.write_text(revision)
    new.replace(reference)


def _limit_files(size: int) -> None:
    """No file of this process grows larger (where the system can promise that)."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _end_with_the_parent() -> None:
    """Wait for the end of the input, then end, in order if that is possible."""
    while sys.stdin.buffer.read(1):
        pass
    last = threading.Timer(_GRACE_SECONDS, os._exit, [1])
    last.daemon = True
    last.start()
    if hasattr(signal, "pthread_kill"):  # wakes the main thread out of a read, too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def _in_words(error: Exception) -> str:
    if isinstance(error, _SizeError):
        return "a file is not of the size that was announced"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "a file is larger than was announced"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full"
    if isinstance(error, OSError) and error.errno in {errno.EACCES, errno.EROFS}:
        return "the folder for downloads cannot be written"
    return type(error).__name__


if __name__ == "__main__":
    main()
