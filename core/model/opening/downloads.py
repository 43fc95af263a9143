"""Model downloads: no larger than announced, measured as they run, stoppable at any moment.

The hub client works in a process of its own (`download_process.py`); this side watches the disk.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from core.model.errors import DownloadRefusedError, HubUnreachableError
from core.model.opening.hub import LOCAL_ADVICE, HubModel

STALL_SECONDS = 60.0  # a download has failed after this long without a byte
LOOK_SECONDS = 0.2  # between two looks at the disk
MARGIN_BYTES = 2_000_000  # allowed beyond the announced size: references, rounding up to blocks
FREE_BYTES = 2_000_000_000  # left free on the disk,
FREE_SHARE = 0.1  # or this share of a small disk
_ADVICE = "Pick another model, or run the app on your own machine."


def fetch(
    model: HubModel,
    token: bool | None = None,
    max_mb: float | None = None,
    on_look: Callable[[int], object] = lambda _: None,
) -> Path:
    """Download a model and return its folder.

    Parameters
    ----------
    token : None for this machine's token, False for none.
    max_mb : the largest model that may be downloaded.
    on_look : called every `LOOK_SECONDS` with the bytes present so far; an exception that it raises
        ends the download.

    Raises
    ------
    DownloadRefusedError
        When it is larger than `max_mb` or than announced, or the disk has no room for it.
    HubUnreachableError
        When it was interrupted; complete files are kept.
    """
    check_size(model.repo, model.size / 1e6, max_mb)
    try:
        return _fetch(model, token, on_look)
    except OSError as error:
        raise _interrupted(model, type(error).__name__) from error


def check_size(name: str, size_mb: float, max_mb: float | None) -> None:
    """Raise DownloadRefusedError for a model that exceeds the site's download limit, if any."""
    if max_mb is not None and size_mb > max_mb:
        raise DownloadRefusedError(
            f"{{name}} is not on this machine yet: {size_mb:,.0f} MB would have to be downloaded,"
            f" and this site takes {max_mb:,.0f} MB at most.",
            _ADVICE,
            name,
        )


def _fetch(model: HubModel, token: bool | None, on_look: Callable[[int], object]) -> Path:
    """Download; the cache lists the model once all files are there at their announced size."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache = Path(constants.HF_HUB_CACHE).expanduser().absolute()
    place = cache / repo_folder_name(repo_id=model.repo, repo_type="model")
    folder = place / "snapshots" / model.revision
    absent = _missing(model, folder)  # none if another visitor has just fetched it
    missing = sum(size for _, size in absent)
    _check_room(model, cache, missing)
    request = {
        "repo_id": model.repo,
        "revision": model.revision,
        "cache_dir": str(cache),
        "token": token,
        "names": [name for name, _ in sorted(model.files, key=lambda file: file[1])],
        "blobs": str(place / "blobs"),
    }
    try:
        failure = _run(request, partial(_watch, model, place, missing, on_look)) if absent else ""
    finally:
        wrong = _missing(model, folder)
        for name, _ in wrong:
            (folder / name).resolve().unlink(missing_ok=True)  # what it links to
            (folder / name).unlink(missing_ok=True)
    if failure or wrong:
        raise _interrupted(model, failure or "a file does not have the announced size")
    reference = place / "refs" / "main"
    reference.parent.mkdir(exist_ok=True)
    reference.with_suffix(".tmp").write_text(model.revision)
    reference.with_suffix(".tmp").replace(reference)  # in one step
    return folder


def _run(request: dict[str, Any], watch: Callable[[subprocess.Popen[str]], None]) -> str:
    """Run the process while it is watched; returns what went wrong, in a few words."""
    with subprocess.Popen(  # leaving closes the input, and waits for the end
        [sys.executable, str(Path(__file__).with_name("download_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        pipes: Any = process
        pipes.stdin.write(json.dumps(request) + "\n")
        pipes.stdin.flush()
        watch(process)
        return pipes.stdout.read().strip() or "it ended early" if process.returncode else ""


def _watch(
    model: HubModel,
    place: Path,
    missing: int,
    on_look: Callable[[int], object],
    process: subprocess.Popen[str],
) -> None:
    """Return when the process has ended; raise what goes wrong before it."""
    before, growth, changed = _bytes_below(place), 0, time.monotonic()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_SECONDS)
            return
        if (now := _bytes_below(place) - before) != growth:
            growth, changed = now, time.monotonic()
        if growth > missing + MARGIN_BYTES:
            raise DownloadRefusedError(
                f"The download of {{name}} was stopped: it exceeded the {model.size_mb:,} MB that"
                " the hub had announced.",
                _ADVICE,
                model.repo,
            )
        _check_room(model, place, 0)
        if time.monotonic() - changed > STALL_SECONDS:
            raise _interrupted(model, f"no byte in {STALL_SECONDS:.0f} seconds")
        on_look(min(model.size, model.size - missing + max(0, growth)))


def _missing(model: HubModel, folder: Path) -> list[tuple[str, int]]:
    """The files that are missing, or not of their announced size."""
    return [(name, size) for name, size in model.files if _size(folder / name) != size]


def _bytes_below(folder: Path) -> int:
    """Bytes of its files, complete or not, without links; any of them may vanish meanwhile."""
    paths = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    return sum(max(0, _size(path)) for path in paths if not path.is_symlink())


def _size(path: Path) -> int:
    """The file's size in bytes; -1 if there is no such file."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _check_room(model: HubModel, folder: Path, needed: int) -> None:
    """Refuse a download that would leave too little of the disk free."""
    while not folder.exists():
        folder = folder.parent
    disk = shutil.disk_usage(folder)
    reserve = min(FREE_BYTES, FREE_SHARE * disk.total)
    if disk.free - needed < reserve:
        raise DownloadRefusedError(
            f"The disk has no room for {{name}}: {model.size_mb:,} MB; {disk.free / 1e6:,.0f} MB"
            f" are free, and {reserve / 1e6:,.0f} MB of them must stay free.",
            "Make room on the disk, or pick a model that is already here.",
            model.repo,
        )


def _interrupted(model: HubModel, why: str) -> HubUnreachableError:
    return HubUnreachableError(
        f"The download of {{name}} was interrupted ({why}).",
        f"Try again: complete files are kept. {LOCAL_ADVICE}",
        model.repo,
    )
