"""A model folder may be a stranger's: it is refused in a sentence, nothing beside it is read."""

from __future__ import annotations

import json
import re
import resource
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from core.model import load, trace_text
from core.model.errors import ModelError
from core.model.opening.load import _LOAD_LOCK
from tests.hostile.broken_folders import (
    ALL,
    INDEX,
    SAID,
    SETTINGS,
    SPECIALS,
    TOKENIZER,
    WEIGHTS,
    edit,
)
from tests.model.families import SENTENCES, rewrite, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import FolderOf, OracleOf

PRIVATE = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhunter\nsecret\nhunter2"


@pytest.fixture
def sound(folder_of: FolderOf) -> Path:
    """A tiny BERT that loads."""
    return folder_of("bert")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of the server that is nobody's business."""
    file = tmp_path / "private" / "secret.txt"
    file.parent.mkdir()
    file.write_text(PRIVATE, "utf-8")
    return file


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy of the tiny BERT, free to be spoilt."""
    return Path(shutil.copytree(sound, tmp_path / "models" / "spoilt"))


@contextmanager
def little_memory(megabytes: int = 200) -> Iterator[None]:
    """In the block, the process may take no more than that beside what it has."""
    usual = resource.getrlimit(resource.RLIMIT_AS)
    most = psutil.Process().memory_info().vms + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, usual)


@pytest.mark.parametrize("kind", ALL)
def test_a_broken_folder_is_refused_in_a_sentence_and_takes_little_memory(
    kind: str, folder: Path, outside: Path
) -> None:
    ALL[kind](folder, outside)
    with pytest.raises(ModelError) as caught, little_memory():
        load(str(folder))
    told = f"{caught.value.problem} {caught.value.advice}"
    assert "not enough memory" not in told, "it was refused by what it says, not by the system"
    assert caught.value.name == str(folder)
    assert caught.value.problem.endswith(".")
    assert re.search(SAID.get(kind, ""), told)
    assert len(told) < 500
    assert "\n" not in told
    assert str(folder.parent.parent) not in told
    assert "hunter" not in told
    assert outside.read_text("utf-8") == PRIVATE


def test_a_refusal_leaves_the_way_free_for_others(folder: Path, sound: Path) -> None:
    edit(folder, "config.json", num_attention_heads=5)
    with pytest.raises(ModelError):
        load(str(folder))
    assert not _LOAD_LOCK.locked()
    assert load(str(sound)).layers == 3


def test_a_refusal_holds_on_to_nothing(folder: Path) -> None:
    """Its frames would keep a network in memory as long as a visitor looks at the message."""
    edit(folder, "config.json", hidden_act="no-such")
    with pytest.raises(ModelError) as caught:
        load(str(folder))
    origin = caught.value.__context__
    assert origin is None or origin.__traceback__ is None
    frames = [entry.frame.code.name for entry in caught.traceback]
    assert frames == ["test_a_refusal_holds_on_to_nothing", "load", "__exit__"]


PATHS = (
    *("vocab_file", "merges_file", "tokenizer_file", "special_tokens_map_file"),
    *("added_tokens_file", "name_or_path", "chat_template_file", "gguf_file"),
)


@pytest.mark.slow
@pytest.mark.parametrize("file", [SETTINGS, SPECIALS])
def test_paths_of_the_authors_machine_are_passed_over(
    file: str, folder: Path, outside: Path
) -> None:
    """Published tokenizers carry them; the folder's own vocabulary counts."""
    (outside.parent / "tokenizer.4.0.0.json").write_text(
        (folder / TOKENIZER).read_text("utf-8").replace('"book"', '"hunter"'), "utf-8"
    )
    others: dict[str, object] = {
        "fast_tokenizer_files": ["../private/tokenizer.4.0.0.json"],
        "auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]},
        "sp_model_kwargs": {"model_file": "/etc/passwd"},
    }
    edit(folder, file, **others, **dict.fromkeys(PATHS, str(outside)))
    model = load(str(folder))
    assert not [word for word in model.tokenizer.get_vocab() if word.startswith("hunter")]
    assert trace_text(model, "book").tokens[1].text == "book"


SWITCHES: dict[str, object] = {
    "_attn_implementation": "flash_attention_2",
    "attn_implementation": "kernels-community/no-such",
    "_attn_implementation_internal": "eager",
    "dtype": "nn",
    "transformers_weights": "../x.safetensors",
    "fusion_config": {"patch_embeddings": True},
    "tokenizer_class": "BertModel",
    "auto_map": {"AutoModel": "own.Own"},
    "name_or_path": "../..",
}


def test_switches_of_a_config_that_choose_code_or_files_are_left_out(folder: Path) -> None:
    edit(folder, "config.json", **SWITCHES)
    assert load(str(folder)).probe_error < 1e-5


def test_weights_in_pickle_form_beside_safetensors_are_never_opened(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"no pickle")
    (folder / "adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": "/etc", "peft_type": "LORA"}), "utf-8"
    )
    assert load(str(folder)).layers == 3


def test_one_file_of_weights_counts_before_an_index(folder: Path) -> None:
    (folder / INDEX).write_text('{"weight_map": {"a": "../../private/x.safetensors"}}', "utf-8")
    assert load(str(folder)).layers == 3


def _as_cached(sound: Path, cache: Path) -> Path:
    """The folder as the hub's client lays it out: names in snapshots, contents in blobs."""
    snapshot, blobs = cache / "snapshots" / "0123abc", cache / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, file in enumerate(sorted(sound.iterdir())):
        shutil.copy(file, blobs / str(number))
        (snapshot / file.name).symlink_to(Path("../../blobs") / str(number))
    return snapshot


def test_links_of_the_hub_cache_are_followed(sound: Path, tmp_path: Path) -> None:
    assert load(str(_as_cached(sound, tmp_path / "models--a--b"))).layers == 3


@pytest.mark.parametrize("file", ["vocab.txt", TOKENIZER, "config.json", "model.safetensors"])
def test_links_of_the_hub_cache_that_leave_it_are_not(
    sound: Path, tmp_path: Path, outside: Path, file: str
) -> None:
    snapshot = _as_cached(sound, tmp_path / "models--a--b")
    (snapshot / file).unlink(missing_ok=True)
    (snapshot / file).symlink_to(outside)
    with pytest.raises(ModelError, match="leads somewhere else"):
        load(str(snapshot))


def test_a_folder_of_blobs_that_is_a_link_itself_gives_nothing_away(
    sound: Path, tmp_path: Path
) -> None:
    snapshot = _as_cached(sound, tmp_path / "models--a--b")
    blobs = tmp_path / "models--a--b" / "blobs"
    blobs.rename(tmp_path / "private")
    blobs.symlink_to(tmp_path / "private")
    with pytest.raises(ModelError, match="leads somewhere else"):
        load(str(snapshot))


def test_weights_in_several_files_are_read_and_a_missing_file_is_refused(
    folder: Path, oracle_of: OracleOf
) -> None:
    (folder / WEIGHTS).unlink()
    oracle_of("bert").network.save_pretrained(folder, max_shard_size="20KB")
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 1
    attention = trace_text(load(str(folder)), SENTENCES[0]).attention()
    assert abs(attention - oracle_of("bert").attention(SENTENCES[0])).max() < 1e-5
    shards[0].unlink()
    with pytest.raises(ModelError, match=f"1 of {len(shards)} files are missing"):
        load(str(folder))


def test_weights_that_lack_only_the_pooler_are_taken(folder: Path) -> None:
    """Masked language models are published without it, and attention does not need it."""
    assert load(str(rewrite(folder, without("pooler")))).probe_error < 1e-5


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear all, the weather is fine.", encoding="utf-8")
    for name in ("letter.txt", "missing"):
        with pytest.raises(ModelError, match=f"no folder '.*{name}'"):
            load(str(tmp_path / name))


def test_code_of_its_own_and_an_adapter_are_said_and_not_used(folder: Path) -> None:
    assert load(str(folder)).notes == ()
    edit(folder, "config.json", auto_map={"AutoModel": "own.Network"})
    (folder / "adapter_config.json").write_text("{}")
    own_code, adapter = load(str(folder)).notes
    assert "never runs: what you see is the bert of transformers" in own_code
    assert "is not applied: merge it" in adapter
