"""Model folders that would take memory or time; each is refused with little of both."""

from __future__ import annotations

import functools
import json
import shutil
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.model import load
from core.model.errors import ModelError
from tests.hostile.broken_folders import SETTINGS, TOKENIZER, WEIGHTS, edit
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from collections.abc import Callable

_scratch = tempfile.TemporaryDirectory()
FOLDER = Path(_scratch.name) / "model"
_SOUND = Path(_scratch.name) / "sound"


def prepare() -> None:
    """What a server has in memory: torch, transformers, a loaded model. Then a folder to spoil."""
    build(FAMILIES["bert"], _SOUND)
    load(str(_SOUND))


def _fresh(attack: Callable[[], None]) -> Callable[[], None]:
    """The attack, on a copy of the sound folder."""

    @functools.wraps(attack)
    def prepared() -> None:
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(_SOUND, FOLDER)
        attack()

    return prepared


def _is_refused() -> None:
    with pytest.raises(ModelError):
        load(str(FOLDER))


def a_vocabulary_of_nested_lists() -> None:
    (FOLDER / TOKENIZER).write_bytes(b"[" + b"[]," * 20_000_000 + b"[]]")
    _is_refused()


def a_header_of_ninety_megabytes() -> None:
    entry = b'"%07d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},'
    with (FOLDER / WEIGHTS).open("wb") as file:
        count = 90_000_000 // len(entry % 0)
        file.write(struct.pack("<Q", count * len(entry % 0) + 1))
        file.write(b"{")
        for start in range(0, count, 10_000):
            rows = (entry % number for number in range(start, min(start + 10_000, count)))
            file.write(b"".join(rows))
        file.seek(-1, 1)
        file.write(b"}")
    _is_refused()


def a_config_that_would_fill_the_memory() -> None:
    edit(FOLDER, "config.json", hidden_size=8192, num_attention_heads=64, num_hidden_layers=500)
    _is_refused()


def a_table_of_positions_that_would_fill_the_memory() -> None:
    edit(FOLDER, "config.json", max_position_embeddings=2**24)
    _is_refused()


def two_thousand_layers_of_experts() -> None:
    config = {
        "model_type": "mixtral",
        "num_hidden_layers": 2000,
        "num_local_experts": 4096,
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    }
    (FOLDER / "config.json").write_text(json.dumps(config), encoding="utf-8")
    _is_refused()


def tokens_with_ids_up_to_a_billion() -> None:
    """transformers would name every id below the largest one."""
    (FOLDER / TOKENIZER).unlink()
    (FOLDER / "tokenizer.model").write_bytes(b"YQ== 0\nYg== 1\n")
    token = {"content": "<far>", "lstrip": False, "rstrip": False, "normalized": False}
    edit(FOLDER, SETTINGS, added_tokens_decoder={str(10**9): token | {"special": True}})
    edit(FOLDER, SETTINGS, tokenizer_class="PreTrainedTokenizerFast")
    _is_refused()


def a_vocabulary_on_disk_of_a_gigabyte() -> None:
    (FOLDER / TOKENIZER).unlink()
    with (FOLDER / "vocab.txt").open("wb") as file:
        file.truncate(2**30)  # sparse: it takes no room on the disk
    _is_refused()


def a_table_of_sines_filled_one_by_one() -> None:
    shutil.rmtree(FOLDER)
    FOLDER.mkdir()
    build(FAMILIES["distilbert"], FOLDER)
    edit(FOLDER, "config.json", sinusoidal_pos_embds=True, max_position_embeddings=2**22)
    _is_refused()


def _with_normalizer(*steps: dict[str, object]) -> None:
    vocabulary = json.loads((FOLDER / TOKENIZER).read_text("utf-8"))
    normalizer = {"type": "Sequence", "normalizers": list(steps)}
    (FOLDER / TOKENIZER).write_text(json.dumps(vocabulary | {"normalizer": normalizer}), "utf-8")
    _is_refused()


def every_letter_doubled_eighteen_times() -> None:
    step: dict[str, object] = {
        "type": "Replace",
        "pattern": {"String": "a"},
        "content": "aa",
    }
    _with_normalizer(*[step] * 18)


def forty_megabytes_before_every_text() -> None:
    _with_normalizer({"type": "Prepend", "prepend": "x" * 40_000_000})


def letters_between_all_letters() -> None:
    step: dict[str, object] = {
        "type": "Replace",
        "pattern": {"String": ""},
        "content": "x" * 64,
    }
    _with_normalizer(*[step] * 4)


ATTACKS = tuple(
    _fresh(attack)
    for attack in (
        a_vocabulary_of_nested_lists,
        a_header_of_ninety_megabytes,
        a_config_that_would_fill_the_memory,
        a_table_of_positions_that_would_fill_the_memory,
        two_thousand_layers_of_experts,
        tokens_with_ids_up_to_a_billion,
        a_vocabulary_on_disk_of_a_gigabyte,
        a_table_of_sines_filled_one_by_one,
        every_letter_doubled_eighteen_times,
        forty_megabytes_before_every_text,
        letters_between_all_letters,
    )
)
