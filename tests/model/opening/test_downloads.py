"""Downloads: what was announced and no more, and only while somebody waits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.model import load, memory
from core.model.errors import (
    DownloadRefusedError,
    HubUnreachableError,
    ModelError,
    NotDownloadedError,
    NoWeightsError,
    OutOfMemoryError,
    UnknownModelError,
    UnsupportedModelError,
)
from core.model.opening import downloads, hub
from core.model.opening.catalog import bundled_folder, find_entry, fits
from tests.server import ROOT
from tests.stand_in_hub import COMMIT, StandInHub, running_hub

NOVELS = find_entry("bundled/gpt2-novels")
WANTED = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
HUGE = 50_000_000_000  # bytes


class Left(BaseException):
    """As Streamlit ends a run whose visitor has left."""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def stand_in(cache: Path) -> Iterator[StandInHub]:
    with running_hub() as known:
        yield known


@pytest.fixture
def novels(stand_in: StandInHub) -> hub.HubModel:
    """A real model of 2.9 MB on the hub, beside files that nobody wants."""
    assert NOVELS is not None
    stand_in.publish("some/novels", bundled_folder(NOVELS))
    record = stand_in.records["some/novels"][1]
    assert isinstance(record, dict)
    unwanted = ("onnx/config.json", "old/model.safetensors", "pytorch_model.bin", "modeling.py")
    record["siblings"] += [{"rfilename": name, "size": 10} for name in unwanted]
    stand_in.files |= {f"some/novels/{name}": b"0" * 10 for name in unwanted}
    return hub.look_up("some/novels")


def zeros(stand_in: StandInHub, repo: str, announced: int, sent: int) -> hub.HubModel:
    """A model whose weights have one size in the hub's list and another when they come."""
    small: dict[str, bytes | int] = dict.fromkeys(("config.json", "tokenizer.json"), b"{}")
    stand_in.offer(repo, *((name, 2) for name in small), ("model.safetensors", announced))
    files = {**small, "model.safetensors": sent}
    stand_in.files |= {f"{repo}/{name}": content for name, content in files.items()}
    return hub.look_up(repo)


def left_on_disk(cache: Path) -> int:
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())


def wait_for(happens: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("token", [None, False])
def test_a_model_that_was_downloaded_loads_and_nothing_else_came(
    token: bool | None, novels: hub.HubModel, stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token of this machine is sent unless none may be."""
    monkeypatch.setenv("HF_TOKEN", "hf_own")
    stand_in.asked.clear()
    stand_in.pause = 0.02
    if token is None:
        load("some/novels")
    else:
        counts = list[int]()
        downloads.fetch(novels, token=token, on_look=counts.append)
        assert counts == sorted(counts)
        assert any(0 < count < novels.size for count in counts)
    assert sorted(stand_in.fetched) == WANTED  # no README.md
    assert stand_in.tokens == {"Bearer hf_own" if token is None else None}
    monkeypatch.setattr(downloads, "_run", None)
    assert downloads.fetch(novels, token=token) == hub.cached_folder("some/novels")  # all is there
    model = load("some/novels", download=False)
    assert (model.name, model.layers, model.heads) == ("some/novels", 4, 4)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [HUGE, 4_000_000, 900_000, None])
def test_a_file_that_does_not_come_as_announced_is_no_model_and_leaves_nothing(
    stand_in: StandInHub, cache: Path, sent: int | None
) -> None:
    model = zeros(stand_in, "liar/model", 1_000_000, sent or 0)
    if sent is None:
        del stand_in.files["liar/model/model.safetensors"]
    problem = "interrupted" if sent is None else "announced"
    with pytest.raises((DownloadRefusedError, HubUnreachableError), match=problem):
        downloads.fetch(model)
    assert hub.cached_folder("liar/model") is None
    assert left_on_disk(cache) < 100_000


@pytest.mark.slow
def test_a_sites_limit_and_a_disk_that_is_full_or_fills_up_stop_the_download(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    disk = SimpleNamespace(total=100 * 10**9, free=2_010_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    stand_in.pause = 0.1
    model = zeros(stand_in, "slow/model", 50_000_000, 50_000_000)
    with pytest.raises(DownloadRefusedError, match="2,010 MB are free, and 2,000 MB"):
        downloads.fetch(model)
    with pytest.raises(DownloadRefusedError, match=r"50 MB .* 49 MB at most"):
        downloads.fetch(model, token=False, max_mb=49)
    assert stand_in.fetched == []
    disk.free = 50 * 10**9

    def fill(_: int) -> None:
        if "model.safetensors" in stand_in.fetched:
            disk.free = 10**9

    with pytest.raises(DownloadRefusedError, match="no room"):
        downloads.fetch(model, on_look=fill)
    assert left_on_disk(cache) < 100_000


@pytest.mark.slow
def test_a_download_ends_whose_visitor_leaves_or_whose_hub_falls_silent(
    stand_in: StandInHub, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.pause = 0.01  # a second to the first bytes on the disk, five to the end
    model = zeros(stand_in, "slow/model", 50_000_000, 50_000_000)

    def leave(_: int) -> None:
        if any(path.stat().st_size for path in cache.rglob("*.incomplete")):
            raise Left

    with pytest.raises(Left):
        downloads.fetch(model, on_look=leave)
    assert hub.cached_folder("slow/model") is None
    assert not list(cache.rglob("*.incomplete"))
    stand_in.pause = 600.0
    monkeypatch.setattr(downloads, "STALL_SECONDS", 1.0)
    with pytest.raises(HubUnreachableError, match="no byte in 1 seconds"):
        downloads.fetch(model)


@pytest.mark.slow
def test_a_server_that_is_killed_takes_its_download_along(
    stand_in: StandInHub, cache: Path
) -> None:
    stand_in.pause = 0.03
    model = zeros(stand_in, "slow/model", 50_000_000, 50_000_000)
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, stand_in.address, str(cache), json.dumps(model.files)],
        cwd=ROOT,
    )
    try:
        wait_for(lambda: "model.safetensors" in stand_in.fetched)  # its part is open
    finally:
        server.kill()
        server.wait()
    wait_for(lambda: not any(cache.rglob("*.incomplete")))


_SERVER = """
import json, sys
from huggingface_hub import constants
from core.model.opening import downloads
from core.model.opening import hub
_, constants.HF_HUB_CACHE, files = sys.argv[1:]
files = tuple(tuple(each) for each in json.loads(files))
downloads.fetch(hub.HubModel("slow/model", "a" * 40, files))
"""


def test_a_download_that_broke_off_is_not_taken_for_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tool fetched one of two shards: the rest is asked for, and not refused for ever."""
    (tmp_path / "config.json").write_text("{}")
    shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    index = {"weight_map": {"a": shards[0], "b": shards[1]}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda *_: str(tmp_path / "config.json")
    )
    (tmp_path / shards[0]).touch()
    assert hub.cached_folder("half/fetched") is None
    (tmp_path / shards[1]).touch()
    assert hub.cached_folder("half/fetched") == tmp_path


# ---- a hub that is asked once, for a short time, and what it may offer -------------------------


def test_a_model_that_does_not_fit_in_memory_is_refused_before_it_is_downloaded(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Llama 3.2 1B: 1.24 billion numbers of four bytes, and a quarter more to work with."""
    spec = find_entry("Llama-3.2-1B")
    assert spec is not None
    assert fits(spec, 6_200_000_000)
    assert not fits(spec, 6_100_000_000)
    monkeypatch.setattr(memory, "available_bytes", lambda: 6_100_000_000)
    with pytest.raises(OutOfMemoryError, match="needs about 6,180 MB"):
        load("Llama-3.2-1B", download=False)
    assert stand_in.asked == []


NO_COMMITS = (None, "main", "../../../etc", "A" * 40)
FILES = (("config.json", 600), ("model.safetensors", 440_000_000), ("tokenizer.json", 3_000_000))


def test_the_hub_says_how_much_must_be_downloaded(stand_in: StandInHub) -> None:
    stand_in.offer(
        "some/model",
        *FILES,
        ("vocab.txt", 10**9),
        ("onnx/model.safetensors", 10**10),
        ("sub/config.json", 10**10),
        ("pytorch_model.bin", 10**9),
        ("modeling.py", 10**9),
        ("README.md", 10**9),
    )
    model = hub.look_up("some/model")
    assert model == hub.HubModel("some/model", COMMIT, FILES)
    assert model.size == 443_000_600
    with pytest.raises(NotDownloadedError, match="443 MB must be downloaded") as refused:
        load("some/model", download=False)
    assert refused.value.size_mb == 443


REFUSED = (DownloadRefusedError, "301 files")  # the largest models come in about 200


@pytest.mark.parametrize(
    ("files", "facts", "error", "problem"),
    [
        ([FILES[2], *((f"{n}.safetensors", 1) for n in range(300))], {}, *REFUSED),
        *((FILES, {"sha": sha}, DownloadRefusedError, "") for sha in NO_COMMITS),
        ([FILES[0], ("pytorch_model.bin", 10**8)], {}, NoWeightsError, "safetensors"),
        ([*FILES[:2], ("vocab.txt", 10**6)], {}, UnsupportedModelError, "no fast tokenizer"),
    ],
    ids=["files", *map(str, NO_COMMITS), "pickle", "reader"],
)
def test_what_is_no_model_to_download_is_refused_before(
    files: Sequence[tuple[str, int]],
    facts: dict[str, object],
    error: type[ModelError],
    problem: str,
    stand_in: StandInHub,
) -> None:
    stand_in.offer("some/model", *files, **facts)
    with pytest.raises(error, match=problem or None):
        load("some/model", folders=False, token=False)
    assert stand_in.fetched == []


def test_without_a_token_none_is_sent_and_a_gated_model_is_none(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one of the catalogue the licence is named."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    stand_in.offer("some/model", *FILES)
    for name in ("gated/model", "google/gemma-3-270m"):
        stand_in.offer(name, *FILES, gated="manual")
    with pytest.raises(NotDownloadedError):
        load("some/model", download=False, token=False)
    with pytest.raises(UnknownModelError, match="no public model"):
        load("gated/model", download=False, token=False)
    with pytest.raises(UnknownModelError, match="accepted its licence"):
        load("gemma-3-270m", download=False, token=False)
    assert stand_in.tokens == {None}
    assert hub.look_up("gated/model").size_mb == 443
    assert stand_in.tokens == {None, "Bearer hf_secret"}


def test_an_id_that_is_a_folder_too_is_an_id_where_folders_are_not_opened(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "core" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownModelError, match="no public model"):
        load("core/model", download=False, folders=False)
    with pytest.raises(UnknownModelError, match="holds no model"):
        load("core/model", download=False)


@pytest.mark.parametrize("name", ["//other/share", "\\\\other\\share"])
def test_a_folder_of_another_machine_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("pathlib.Path.is_dir", lambda _: pytest.fail("looked"))
    with pytest.raises(UnknownModelError, match="no folder"):
        load(name)


@pytest.mark.parametrize("name", ["<script>", "a b", "x" * 5000, "ümlaut/öde", "a/b/c", "..", ""])
def test_an_impossible_id_is_refused_without_asking(name: str, stand_in: StandInHub) -> None:
    with pytest.raises(UnknownModelError):
        load(name)
    assert stand_in.asked == []


def test_a_hub_that_answers_late_or_cannot_be_reached_is_given_up(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ASK_SECONDS", 0.3)
    stand_in.seconds = 6.0
    started = time.monotonic()
    with pytest.raises(HubUnreachableError, match=r"did not answer|could not be reached"):
        hub.look_up("some/model")
    assert time.monotonic() - started < stand_in.seconds / 2
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubUnreachableError, match=r"could not be reached|did not answer"):
        load("some/model")
