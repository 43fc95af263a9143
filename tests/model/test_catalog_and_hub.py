"""What is offered, what is here, and a hub that is asked once, for a short time."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

import pytest

from core.model import CATALOG, DEFAULT_MODEL, hub, load
from core.model.catalog import bundled_folder, find, is_here, offered
from core.model.errors import (
    HubUnreachableError,
    NotDownloadedError,
    NoWeightsError,
    UnknownModelError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Hub(BaseHTTPRequestHandler):
    """A stand-in for the hub on this machine: model records by id."""

    records: ClassVar[dict[str, tuple[int, object]]] = {}
    seconds: ClassVar[float] = 0.0

    def do_GET(self) -> None:
        time.sleep(self.seconds)
        repo = self.path.split("?")[0].removeprefix("/api/models/")
        status, record = self.records.get(repo, (404, {"error": "Repository not found"}))
        body = json.dumps(record).encode()
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def record(repo: str, *files: tuple[str, int]) -> tuple[int, object]:
    siblings = [{"rfilename": name, "size": size} for name, size in files]
    return 200, {"_id": "0", "id": repo, "private": False, "siblings": siblings, "tags": []}


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Hub]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(hub, "_endpoint", lambda: address)
    monkeypatch.setattr(_Hub, "records", {})
    monkeypatch.setattr(_Hub, "seconds", 0.0)
    yield _Hub
    server.shutdown()
    server.server_close()


def test_the_default_model_is_bundled_and_here() -> None:
    spec = find(DEFAULT_MODEL)
    assert spec is not None
    assert spec.bundled
    assert is_here(spec)


def test_every_model_of_the_catalogue_says_what_it_is_and_what_it_costs() -> None:
    assert [spec.name for spec in CATALOG] == [
        "bundled/minilm",
        "bundled/gpt2-novels",
        "bert-base-uncased",
        "distilbert-base-uncased",
        "roberta-base",
        "gpt2",
        "distilgpt2",
        "SmolLM2-135M",
        "Qwen2.5-0.5B",
    ]
    for spec in CATALOG:
        assert spec.title
        assert spec.good_for.endswith((".", "?"))
        assert 0 < spec.size_mb < 2000


def test_what_is_not_bundled_has_no_folder_here() -> None:
    spec = find("gpt2")
    assert spec is not None
    with pytest.raises(ValueError, match="gpt2 is not bundled"):
        bundled_folder(spec)


@pytest.mark.parametrize(
    ("restriction", "names"),
    [
        (None, None),
        ("", None),
        (" , ", None),
        ("bundled/minilm", ("bundled/minilm",)),
        (" gpt2, bundled/minilm ,gpt2", ("gpt2", "bundled/minilm")),
    ],
)
def test_a_deployment_may_name_its_models(
    restriction: str | None, names: tuple[str, ...] | None
) -> None:
    assert offered(restriction) == names


def test_the_hub_says_how_much_must_be_downloaded(stand_in: type[_Hub]) -> None:
    stand_in.records["some/model"] = record(
        "some/model",
        ("config.json", 600),
        ("model.safetensors", 440_000_000),
        ("onnx/model.safetensors", 10**10),
        ("pytorch_model.bin", 10**9),
    )
    assert hub.ask("some/model") == hub.HubModel("some/model", 440)
    with pytest.raises(NotDownloadedError, match="440 MB must be downloaded"):
        load("some/model", download=False)


def test_an_id_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownModelError, match="'no/such-model'"):
        load("no/such-model")


@pytest.mark.parametrize("name", ["<script>", "a b", "x" * 5000, "ümlaut/öde", "a/b/c", "..", ""])
def test_an_impossible_id_is_refused_without_asking(name: str) -> None:
    started = time.monotonic()
    with pytest.raises(UnknownModelError):
        load(name)
    assert time.monotonic() - started < 2


def test_weights_only_in_pickle_form_are_refused_before_any_download(
    stand_in: type[_Hub],
) -> None:
    stand_in.records["old/model"] = record(
        "old/model", ("config.json", 600), ("pytorch_model.bin", 10**8)
    )
    with pytest.raises(NoWeightsError, match="safetensors"):
        load("old/model")


def test_a_hub_that_answers_late_is_given_up(
    stand_in: type[_Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ASK_SECONDS", 0.3)
    stand_in.seconds = 6.0
    started = time.monotonic()
    with pytest.raises(HubUnreachableError, match=r"did not answer|could not be reached"):
        hub.ask("some/model")
    assert time.monotonic() - started < stand_in.seconds / 2


def test_a_hub_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_endpoint", lambda: "http://127.0.0.1:9")
    with pytest.raises(HubUnreachableError, match=r"could not be reached|did not answer"):
        load("some/model")
