"""Download the files of one model, as a process: ``python -m core.model.downloading.process``.

Reads one line of JSON, fetches the files it lists, and no others, into the hub client's cache, and
answers with the folder or with what went wrong. The cache hears about the model only once all files
are there, each with its announced size. The process ends when its input does: nobody is waiting.
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
_GRACE_SECONDS = 5.0  # to remove an unfinished file
_FAILURES = {
    errno.EFBIG: "a file is larger than announced",
    errno.ENOSPC: "the disk is full",
    errno.EACCES: "the folder for downloads cannot be written",
    errno.EROFS: "the folder for downloads cannot be written",
}


class _SizeError(Exception):
    """A file does not have its announced size."""


def main() -> None:
    """Fetch the files and report the outcome."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keep what libraries print out of the answer
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `finally` runs
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        answer = {"folder": str(_fetch(request))}
    except Exception as error:  # noqa: BLE001 - the parent turns it into a sentence
        answer = {"failure": _describe(error)}
    json.dump(answer, answers)
    answers.flush()


def _fetch(request: dict[str, Any]) -> Path:
    from huggingface_hub import hf_hub_download

    files = sorted(request["files"], key=lambda file: file[1])  # small files may refuse early
    _limit_file_size(max(size for _, size in files) + _MARGIN_BYTES)
    folder = Path()
    for name, size in files:
        path = Path(
            hf_hub_download(
                request["repo"],
                name,
                revision=request["revision"],
                cache_dir=request["cache"],
                token=request["token"],
            )
        )
        folder = path.parent
        if path.stat().st_size != size:
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise _SizeError
    _register(folder, request["revision"])
    return folder


def _register(snapshot: Path, revision: str) -> None:
    """Point the cache's ``refs/main`` at the complete snapshot, in one step."""
    reference = snapshot.parents[1] / "refs" / "main"
    reference.parent.mkdir(parents=True, exist_ok=True)
    new = reference.with_name(f"main.{os.getpid()}.tmp")
    new.write_text(revision)
    new.replace(reference)


def _limit_file_size(size: int) -> None:
    """Let no file of this process grow larger, where the system can enforce that."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _end_with_parent() -> None:
    """Wait for the end of the input, then exit, cleanly if possible."""
    while sys.stdin.buffer.read(1):
        pass
    last_resort = threading.Timer(_GRACE_SECONDS, os._exit, [1])
    last_resort.daemon = True
    last_resort.start()
    if hasattr(signal, "pthread_kill"):  # interrupts a read in the main thread, too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def _describe(error: Exception) -> str:
    if isinstance(error, _SizeError):
        return "a file does not have the announced size"
    return _FAILURES.get(getattr(error, "errno", None) or 0, type(error).__name__)


if __name__ == "__main__":
    main()
