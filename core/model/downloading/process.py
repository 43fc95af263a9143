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
import sys
import threading
from pathlib import Path
from typing import Any

_FAILURES = {
    errno.ENOSPC: "the disk is full",
    errno.EACCES: "the folder for downloads cannot be written",
    errno.EROFS: "the folder for downloads cannot be written",
}


class _SizeError(Exception):
    """A file does not have its announced size."""


def unfinished(blobs: Path) -> set[Path]:
    """What the hub client has not completed in a model's folder of files."""
    return set(blobs.glob("*.incomplete"))


def main() -> None:
    """Fetch the files and report the outcome."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keep what libraries print out of the answer
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, args=(Path(request["blobs"]),), daemon=True).start()
    try:
        answer = {"folder": str(_fetch(request))}
    except Exception as error:  # noqa: BLE001 - the parent turns it into a sentence
        answer = {"failure": _describe(error)}
    json.dump(answer, answers)
    answers.flush()


def _fetch(request: dict[str, Any]) -> Path:
    from huggingface_hub import hf_hub_download

    folder = Path()
    for name, size in sorted(request["files"], key=lambda file: file[1]):  # small ones may refuse
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


def _end_with_parent(blobs: Path) -> None:
    """Wait for the end of the input, then exit without an unfinished file of this process."""
    before = unfinished(blobs)
    sys.stdin.buffer.read()
    for path in unfinished(blobs) - before:
        with contextlib.suppress(OSError):
            path.unlink()
    os._exit(1)


def _describe(error: Exception) -> str:
    if isinstance(error, _SizeError):
        return "a file does not have the announced size"
    return _FAILURES.get(getattr(error, "errno", None) or 0, type(error).__name__)


if __name__ == "__main__":
    main()
