"""A model hub on this machine: records and files by id, and a note of every request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

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
        self._answer()

    def do_GET(self) -> None:
        content, size = self._answer()
        with suppress(OSError):  # the other side has ended
            for start in range(0, size, _CHUNK):
                zeros = bytes(min(_CHUNK, size - start))
                self.wfile.write(content[start : start + _CHUNK] or zeros)
                time.sleep(self.hub.pause)

    def _answer(self) -> tuple[bytes, int]:
        """Send the head for a record or a file; gives its content, empty for zeros, and size."""
        self.hub.asked.append((self.command, self.path, self.headers.get("Authorization")))
        repo, _, name = self.path.lstrip("/").partition(f"/resolve/{COMMIT}/")
        known = self.hub.files.get(f"{repo}/{name}")
        if name:
            content = known if isinstance(known, bytes) else b""
            status, missing = 404 if known is None else 200, "EntryNotFound"
        else:
            time.sleep(self.hub.seconds)
            repo = self.path.split("?")[0].removeprefix("/api/models/")
            status, record = self.hub.records.get(repo, (404, {"error": "Repository not found"}))
            content, missing = json.dumps(record).encode(), "RepoNotFound"
        size = known if isinstance(known, int) else len(content)
        self.send_response(status)
        self.send_header("Content-Length", str(size))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{abs(hash((repo, name))):040x}"')
        if status == 404:
            self.send_header("X-Error-Code", missing)
        self.end_headers()
        return content, size

    def log_message(self, *_: object) -> None:
        pass
