"""The process that downloads, seen from the server: start it, measure what arrives, end it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.model.downloading import hub

if TYPE_CHECKING:
    from core.model.downloading.hub import HubModel

_ROOT = Path(__file__).parents[3]
_STOP_SECONDS = 3.0  # to put its unfinished file away, before it is killed
_ORDERLY = {0, 1}  # exit statuses after which it has put its unfinished file away itself
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_RESOURCE")
_NO_TOKEN = {"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}  # nor one from a file
_SETTINGS = {
    "HF_HUB_DISABLE_XET": "1",  # which keeps a second copy, and grows where nobody looks
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


class Child:
    """``python -m core.model.downloading.process`` for one model.

    Attributes
    ----------
    cache : the hub client's usual cache.
    missing : bytes of the model that are not there yet.
    folder : where the complete model lies, once the process has said so.
    failure : in a word or two, why it ended without.
    """

    def __init__(self, model: HubModel, token: bool | None) -> None:
        from huggingface_hub import constants
        from huggingface_hub.file_download import repo_folder_name

        self.cache = Path(constants.HF_HUB_CACHE).expanduser().absolute()
        self._place = self.cache / repo_folder_name(repo_id=model.repo, repo_type="model")
        snapshot = self._place / "snapshots" / model.revision
        self.missing = sum(size for name, size in model.files if _size(snapshot / name) != size)
        self.folder: Path | None = None
        self.failure = "it ended early"
        self._size_before = _size_of_all(self._place)
        self._unfinished_before = set(self._unfinished())
        self._process: subprocess.Popen[bytes] | None = None
        self._token = token
        self._request = {
            "repo": model.repo,
            "revision": model.revision,
            "files": model.files,
            "cache": str(self.cache),
            "endpoint": hub.endpoint(),
            "token": token,
        }

    def start(self) -> None:
        """Start the process; it ends by itself when this one does."""
        environment = os.environ | _SETTINGS
        if self._token is False:
            environment = {k: v for k, v in environment.items() if k not in _TOKENS} | _NO_TOKEN
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.model.downloading.process"],
            cwd=_ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                stdin.write(json.dumps(self._request).encode() + b"\n")
                stdin.flush()

    def is_running(self, seconds: float) -> bool:
        """Whether it runs still, after this time at most; reads its answer when it does not."""
        if self._process is None:
            return False
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        self._read_answer()
        return False

    def grown(self) -> int:
        """Bytes that the model takes on the disk beyond those it took before."""
        return _size_of_all(self._place) - self._size_before

    def stop(self) -> None:
        """End the process and put away what it left unfinished."""
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if process.returncode not in _ORDERLY or sys.platform == "win32":
            for path in set(self._unfinished()) - self._unfinished_before:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _read_answer(self) -> None:
        stdout = self._process.stdout if self._process is not None else None
        with contextlib.suppress(ValueError, AttributeError):
            answer = json.loads(stdout.read()) if stdout is not None else {}
            self.failure = answer.get("failure", self.failure)
            self.folder = Path(answer["folder"]) if "folder" in answer else None

    def _unfinished(self) -> list[Path]:
        return list((self._place / "blobs").glob("*.incomplete"))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _size_of_all(folder: Path) -> int:
    """Bytes of all files below a folder, links left out; files may vanish meanwhile."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                path = Path(root, name)
                total += 0 if path.is_symlink() else path.lstat().st_size
    return total
