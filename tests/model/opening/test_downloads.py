"""Downloads: what was announced and no more, and only while somebody waits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from core.model import load
from core.model.errors import DownloadRefusedError, HubUnreachableError
from core.model.opening import downloads, hub
from core.model.opening.catalog import bundled_folder, find
from tests.server import ROOT
from tests.stand_in_hub import StandInHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

NOVELS = find("bundled/gpt2-novels")
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
    return hub.ask("some/novels")


def zeros(stand_in: StandInHub, repo: str, announced: int, sent: int) -> hub.HubModel:
    """A model whose weights have one size in the hub's list and another when they come."""
    small: dict[str, bytes | int] = dict.fromkeys(("config.json", "tokenizer.json"), b"{}")
    stand_in.offer(repo, *((name, 2) for name in small), ("model.safetensors", announced))
    files = {**small, "model.safetensors": sent}
    stand_in.files |= {f"{repo}/{name}": content for name, content in files.items()}
    return hub.ask(repo)


def left_on_disk(cache: Path) -> int:
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())


def wait_for(happens: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("token", [None, False])
def test_a_model_that_was_downloaded_loads_and_nothing_else_came(
    token: bool | None, novels: hub.HubModel, stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token of this machine is sent unless none may be."""
    monkeypatch.setenv("HF_TOKEN", "hf_own")
    stand_in.asked.clear()
    stand_in.pause = 0.02
    counts = list[int]()
    folder = downloads.fetch(novels, token=token, on_look=counts.append)
    assert sorted(stand_in.fetched) == WANTED  # no README.md
    assert stand_in.tokens == {"Bearer hf_own" if token is None else None}
    assert counts == sorted(counts)
    assert any(0 < count < novels.size for count in counts)
    model = load("some/novels", download=False)
    assert (model.name, model.layers, model.heads) == ("some/novels", 4, 4)
    monkeypatch.setattr(downloads, "_run", None)
    assert downloads.fetch(novels, token=token) == folder  # nothing is missing


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


def test_a_download_whose_visitor_leaves_ends_and_leaves_no_part_of_a_file(
    stand_in: StandInHub, cache: Path
) -> None:
    stand_in.pause = 0.03
    model = zeros(stand_in, "slow/model", 50_000_000, 50_000_000)

    def leave(_: int) -> None:
        if any(path.stat().st_size for path in cache.rglob("*.incomplete")):
            raise Left

    with pytest.raises(Left):
        downloads.fetch(model, on_look=leave)
    assert hub.cached_folder("slow/model") is None
    assert not list(cache.rglob("*.incomplete"))


def test_a_hub_that_falls_silent_is_given_up(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "STALL_SECONDS", 2.0)
    stand_in.pause = 600.0
    model = zeros(stand_in, "silent/model", 50_000_000, 50_000_000)
    with pytest.raises(HubUnreachableError, match="no byte in 2 seconds"):
        downloads.fetch(model)


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
