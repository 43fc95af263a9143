"""A model hub on this machine: records and files by id, and a note of every request."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMIT = "a" * 40
_CHUNK = 100_000  # bytes sent between two pauses


@dataclass
class StandInHub:
    """What the hub knows, how slow it is, and what it was asked."""

    address: str = ""
    records: dict[str, tuple[int, object]] = field(default_factory=dict)  # status, record by id
    files: dict[str, bytes | int] = field(default_factory=dict)  # by id/name; a number: of zeros
    seconds: float = 0.0  # before each answer
    pause: float = 0.0  # seconds after each 100 kB of a file
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)  # method, path, token

    def offer(self, repo: str, *files: tuple[str, int | None], **facts: object) -> None:
        """A record of a model with these files and announced sizes."""
        siblings = [{"rfilename": name, "size": size} for name, size in files]
        known = {"_id": "0", "id": repo, "sha": COMMIT, "private": False, "tags": []}
        self.records[repo] = 200, known | {"siblings": siblings} | facts

    def publish(self, repo: str, folder: Path) -> None:
        """A model of a folder's files."""
        paths = sorted(path for path in folder.iterdir() if path.is_file())
        self.offer(repo, *((path.name, path.stat().st_size) for path in paths))
        self.files |= {f"{repo}/{path.name}": path.read_bytes() for path in paths}

    @property
    def tokens(self) -> set[str | None]:
        """What was sent as Authorization, by all requests so far."""
        return {token for _, _, token in self.asked}

    @property
    def fetched(self) -> list[str]:
        """Names of the files that were asked for with GET."""
        got = (path for method, path, _ in self.asked if method == "GET")
        return [path.split("/")[-1] for path in got if "/resolve/" in path]


@contextmanager
def running_hub() -> Iterator[StandInHub]:
    """The stand-in, answering until the end of the block."""
    known = StandInHub()

    class Handler(_Handler):
        hub = known

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    known.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        # Both this process and those it starts ask here.
        patch.setattr("huggingface_hub.constants.ENDPOINT", known.address)
        patch.setenv("HF_ENDPOINT", known.address)
        yield known
    server.shutdown()
    server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: StandInHub

    def do_HEAD(self) -> None:
        self._note()
        self._start_file()

    def do_GET(self) -> None:
        self._note()
        time.sleep(self.hub.seconds)
        if "/resolve/" not in self.path:
            self._send_record()
            return
        for part in _parts(self._start_file() or b""):
            try:
                self.wfile.write(part)
            except OSError:  # the other side has ended
                return
            time.sleep(self.hub.pause)

    def _note(self) -> None:
        self.hub.asked.append((self.command, self.path, self.headers.get("Authorization")))

    def _send_record(self) -> None:
        repo = self.path.split("?")[0].removeprefix("/api/models/")
        status, record = self.hub.records.get(repo, (404, {"error": "Repository not found"}))
        body = json.dumps(record).encode()
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _start_file(self) -> bytes | int | None:
        repo, _, name = self.path.lstrip("/").replace(f"/resolve/{COMMIT}/", "\0").partition("\0")
        content = self.hub.files.get(f"{repo}/{name}")
        self.send_response(404 if content is None else 200)
        size = content if isinstance(content, int) else len(content or b"")
        self.send_header("Content-Length", str(size))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{abs(hash((repo, name))):040x}"')
        if content is None:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.end_headers()
        return content

    def log_message(self, *_: object) -> None:
        pass


def _parts(content: bytes | int) -> Iterator[bytes]:
    size = content if isinstance(content, int) else len(content)
    for start in range(0, size, _CHUNK):
        end = min(size, start + _CHUNK)
        yield bytes(end - start) if isinstance(content, int) else content[start:end]
