"""What a stranger's link may name as a model: each attack, in a process with little memory."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from huggingface_hub import constants

from core.model import load
from core.model.downloading import downloads, hub
from core.model.errors import DownloadRefusedError, ModelError
from tests.stand_in_hub import running_hub

MANY = 100_000  # files of a repository: the most that the hub advises
HUGE = 50_000_000_000  # bytes


def prepare() -> None:
    """What a server has in memory before: the hub client, once used."""
    with running_hub(), contextlib.suppress(ModelError):
        hub.ask("no/model", token=False)


def repository_of_very_many_files() -> None:
    """A model record that lists more files than anybody needs."""
    with running_hub() as known:
        hub.ASK_SECONDS = 60.0  # the attack is on memory: let it be answered
        files = [(f"weights-{number:06d}-of-100000.safetensors", 1) for number in range(MANY)]
        known.offer("many/files", ("tokenizer.json", 2), *files)
        with pytest.raises(DownloadRefusedError, match="100,001 files"):
            load("many/files", download=False, folders=False, token=False)


def file_without_an_end() -> None:
    """Weights that are small in the hub's list and never end when they come."""
    with running_hub() as known, tempfile.TemporaryDirectory() as cache:
        constants.HF_HUB_CACHE = cache
        known.offer("endless/model", ("tokenizer.json", 2), ("model.safetensors", 1_000))
        sent: dict[str, bytes | int] = {"tokenizer.json": b"{}", "model.safetensors": HUGE}
        known.files |= {f"endless/model/{name}": content for name, content in sent.items()}
        model = hub.ask("endless/model", token=False)
        with pytest.raises(ModelError, match="announced"):
            downloads.fetch(model, token=False)
        left = sum(path.stat().st_size for path in Path(cache).rglob("*") if path.is_file())
        assert left < 1_000_000


def model_larger_than_any_disk() -> None:
    """Weights of 50 GB by a link: refused by their announced size, before a byte is fetched."""
    with running_hub() as known:
        known.offer("huge/model", ("tokenizer.json", 2), ("model.safetensors", HUGE))
        with pytest.raises(DownloadRefusedError, match=r"50,000 MB .* 2,500 MB at most"):
            downloads.fetch(hub.ask("huge/model", token=False), token=False, max_mb=2_500)
        assert known.fetched == []


ATTACKS = (file_without_an_end, model_larger_than_any_disk, repository_of_very_many_files)
