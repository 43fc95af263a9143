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

_ROOT = Path(__file__).parents[3]
_STOP_SECONDS = 3.0  # to remove its unfinished file, before it is killed
_CLEAN_EXITS = {0, 1}  # exit codes after which it has removed its unfinished file itself
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_RESOURCE")
_NO_TOKEN = {"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}  # not even one from a file
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
        self._place = self.cache / repo_folder_name(repo_id=model.repo, repo_type="model")
        snapshot = self._place / "snapshots" / model.revision
        self.missing = sum(size for name, size in model.files if _size(snapshot / name) != size)
        self.folder: Path | None = None
        self.failure = "it ended early"
        self._size_before = _total_size(self._place)
        self._unfinished_before = set(self._unfinished())
        self._request = {
            "repo": model.repo,
            "revision": model.revision,
            "files": model.files,
            "cache": str(self.cache),
        }

    def start(self, token: bool | None) -> None:
        """Start the process; it ends by itself when this one does."""
        environment = os.environ | _SETTINGS
        if token is False:
            environment = {k: v for k, v in environment.items() if k not in _TOKENS} | _NO_TOKEN
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.model.downloading.process"],
            cwd=_ROOT,
            env=environment,
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
        return _total_size(self._place) - self._size_before

    def stop(self) -> None:
        """End the process and remove what it left unfinished."""
        process = self._process
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        with contextlib.suppress(BrokenPipeError), process:
            pass  # closes its pipes and waits for it
        if process.returncode not in _CLEAN_EXITS or sys.platform == "win32":
            for path in set(self._unfinished()) - self._unfinished_before:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _unfinished(self) -> list[Path]:
        return list((self._place / "blobs").glob("*.incomplete"))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _total_size(folder: Path) -> int:
    """Bytes of all files below a folder, without links; files may vanish meanwhile."""
    total = 0
    for root, _, names in os.walk(folder):
        for path in (Path(root, name) for name in names):
            with contextlib.suppress(OSError):
                total += 0 if path.is_symlink() else path.stat().st_size
    return total
