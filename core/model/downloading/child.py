"""The download process as the server sees it: start it, measure what arrives, stop it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from core.model.downloading.hub import HubModel
from core.model.downloading.process import unfinished

_ROOT = Path(__file__).parents[3]
_SETTINGS = {
    "HF_HUB_DISABLE_XET": "1",  # it keeps a second copy, in a place we do not measure
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


class Child:
    """``python -m core.model.downloading.process``, started to download one model.

    Attributes
    ----------
    cache : the hub client's usual cache.
    missing : bytes of the model that are not there yet.
    folder : where the complete model lies, once the process has reported it.
    failure : why it ended without one, in a few words.
    """

    def __init__(self, model: HubModel) -> None:
        from huggingface_hub import constants
        from huggingface_hub.file_download import repo_folder_name

        self.cache = Path(constants.HF_HUB_CACHE).expanduser().absolute()
        place = self.cache / repo_folder_name(repo_id=model.repo, repo_type="model")
        self._place, self._blobs = place, place / "blobs"
        snapshot = place / "snapshots" / model.revision
        self.missing = sum(size for name, size in model.files if _size(snapshot / name) != size)
        self.folder: Path | None = None
        self.failure = "it ended early"
        self._before, self._unfinished_before = self._total(), unfinished(self._blobs)
        self._request = {
            "repo": model.repo,
            "revision": model.revision,
            "files": model.files,
            "cache": str(self.cache),
            "blobs": str(self._blobs),
        }

    def start(self, token: bool | None) -> None:
        """Start the process; it ends by itself when this one does."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.model.downloading.process"],
            cwd=_ROOT,
            env=os.environ | _SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        stdin: Any = self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(self._request | {"token": token}).encode() + b"\n")
            stdin.flush()

    def is_running(self, seconds: float) -> bool:
        """Wait for the process, at most this long; read its answer when it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        stdout: Any = self._process.stdout
        with contextlib.suppress(ValueError, AttributeError):  # no answer, or not an object
            answer = json.loads(stdout.read())
            self.failure = answer.get("failure", self.failure)
            self.folder = Path(answer["folder"]) if "folder" in answer else None
        return False

    def growth(self) -> int:
        """Bytes that the model has added to the disk since the start."""
        return self._total() - self._before

    def stop(self) -> None:
        """End the process and remove what it left unfinished."""
        self._process.kill()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass  # closes its pipes and waits for it
        for path in unfinished(self._blobs) - self._unfinished_before:
            with contextlib.suppress(OSError):
                path.unlink()

    def _total(self) -> int:
        """Bytes of its files, complete or not, without links; they may vanish meanwhile."""
        paths = (path for path in self._place.rglob("*") if not path.is_symlink())
        return sum(_size(path) or 0 for path in paths if not path.is_dir())


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
