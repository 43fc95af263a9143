"""A hub that is asked once, for a short time, and what it may offer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

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
from core.model.opening import hub
from core.model.opening.catalog import find, fits
from tests.stand_in_hub import COMMIT, StandInHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture(autouse=True)
def stand_in() -> Iterator[StandInHub]:
    with running_hub() as known:
        yield known


def test_a_model_that_does_not_fit_in_memory_is_refused_before_it_is_downloaded(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Llama 3.2 1B: 1.24 billion numbers of four bytes, and a quarter more to work with."""
    spec = find("Llama-3.2-1B")
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
    model = hub.ask("some/model")
    assert model == hub.HubModel("some/model", COMMIT, FILES)
    assert model.size == 443_000_600
    with pytest.raises(NotDownloadedError, match="443 MB must be downloaded") as refused:
        load("some/model", download=False)
    assert refused.value.size_mb == 443


@pytest.mark.parametrize(
    ("files", "facts", "error", "problem"),
    [
        # 100,000 are the most that the hub advises.
        (
            [FILES[2], *((f"{n}.safetensors", 1) for n in range(100_000))],
            {},
            DownloadRefusedError,
            "100,001 files",
        ),
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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub, "ASK_SECONDS", 60.0)
    stand_in.offer("some/model", *files, **facts)
    with pytest.raises(error, match=problem or None):
        load("some/model", folders=False, token=False)
    assert stand_in.fetched == []


def test_a_request_without_a_token_sends_none(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    stand_in.offer("some/model", *FILES)
    hub.ask("some/model", token=False)
    with pytest.raises(NotDownloadedError):
        load("some/model", download=False, token=False)
    assert stand_in.tokens == {None}
    hub.ask("some/model")
    assert stand_in.tokens == {None, "Bearer hf_secret"}


def test_without_a_token_a_gated_model_is_none_and_of_the_catalogues_the_licence_is_named(
    stand_in: StandInHub,
) -> None:
    stand_in.offer("gated/model", *FILES, gated="manual")
    stand_in.offer("google/gemma-3-270m", *FILES, gated="manual")
    assert hub.ask("gated/model").size_mb == 443
    with pytest.raises(UnknownModelError, match="no public model"):
        load("gated/model", download=False, token=False)
    with pytest.raises(UnknownModelError, match="accepted its licence"):
        load("gemma-3-270m", download=False, token=False)


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
        hub.ask("some/model")
    assert time.monotonic() - started < stand_in.seconds / 2
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubUnreachableError, match=r"could not be reached|did not answer"):
        load("some/model")
