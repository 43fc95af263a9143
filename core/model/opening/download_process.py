"""Download the files of one model, in a process that reads its request as one line of JSON.

It fetches the listed files, and no others, into the hub client's cache, and prints what went wrong,
if anything. When its input closes, nobody is waiting: it removes unfinished files and exits.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from pathlib import Path

os.environ |= {
    "HF_HUB_DISABLE_XET": "1",  # it keeps a second copy, in a place we do not measure
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def main() -> None:
    """Fetch the files."""
    request = json.loads(sys.stdin.readline())
    names, blobs = request.pop("names"), Path(request.pop("blobs"))
    threading.Thread(target=_end_with_input, args=(blobs, _unfinished(blobs)), daemon=True).start()
    from huggingface_hub import hf_hub_download

    try:
        for name in names:
            hf_hub_download(filename=name, **request)
    except Exception as error:  # noqa: BLE001 - the server turns it into a sentence
        print(getattr(error, "strerror", None) or type(error).__name__)  # noqa: T201
        sys.exit(1)


def _unfinished(blobs: Path) -> set[Path]:
    return set(blobs.glob("*.incomplete"))


def _end_with_input(blobs: Path, before: set[Path]) -> None:
    os.read(0, 1)
    for path in _unfinished(blobs) - before:
        with contextlib.suppress(OSError):
            path.unlink()
    os._exit(1)


if __name__ == "__main__":
    main()
