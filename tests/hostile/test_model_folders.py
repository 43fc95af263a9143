"""A model folder may be a stranger's: it is refused in a sentence, nothing beside it is read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from core.model import load, trace_text
from core.model.errors import ModelError
from core.model.opening.load import _LOAD_LOCK
from core.model.opening.tokenizer import check_settings
from tests.conftest import FolderOf, OracleOf
from tests.hostile import little_memory
from tests.hostile.broken_folders import (
    ALL,
    CONFIG,
    INDEX,
    SETTINGS,
    SPECIALS,
    TOKENIZER,
    WEIGHTS,
    edit,
    linked,
)
from tests.model.families import SENTENCES, rewrite, without

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


@pytest.mark.parametrize("kind", ALL)
def test_a_broken_folder_is_refused_in_a_sentence_and_takes_little_memory(
    kind: str, folder: Path, outside: Path
) -> None:
    spoil, said = ALL[kind]
    spoil(folder, outside)
    with pytest.raises(ModelError) as caught, little_memory():
        load(str(folder))
    told = f"{caught.value.problem} {caught.value.advice}"
    assert "not enough memory" not in told, "it was refused by what it says, not by the system"
    assert caught.value.name == str(folder)
    assert caught.value.problem.endswith(".")
    assert re.search(said, told)
    assert len(told) < 500
    assert "\n" not in told
    assert str(folder.parent.parent) not in told
    assert "hunter" not in told
    assert outside.read_text("utf-8") == PRIVATE


def test_a_refusal_leaves_the_way_free_for_others_and_holds_on_to_nothing(
    folder: Path, sound: Path
) -> None:
    """Its frames would keep a network in memory as long as a visitor looks at the message."""
    edit(folder, CONFIG, hidden_act="no-such")
    with pytest.raises(ModelError) as caught:
        load(str(folder))
    origin = caught.value.__context__
    assert origin is None or origin.__traceback__ is None
    assert [entry.frame.code.name for entry in caught.traceback][1:] == ["load", "__exit__"]
    assert not _LOAD_LOCK.locked()
    assert load(str(sound)).layers == 3


PATHS = (
    *("vocab", "merges", "vocab_file", "merges_file", "tokenizer_file", "special_tokens_map_file"),
    *("added_tokens_file", "name_or_path", "chat_template_file", "gguf_file"),
)


@pytest.mark.slow
@pytest.mark.parametrize("file", [SETTINGS, SPECIALS])
def test_paths_of_the_authors_machine_and_ids_of_no_vocabulary_are_passed_over(
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
        "init_inputs": [str(outside)],
        "added_tokens_decoder": {str(10**9): {"content": "<far>"}},  # all below would be named
    }
    assert check_settings(file, others) == {}
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


def test_switches_of_a_config_and_weights_of_other_forms_are_left_out(folder: Path) -> None:
    """A pickle and an adapter beside safetensors; an index beside one file of weights."""
    assert load(str(folder)).notes == ()
    edit(folder, CONFIG, **SWITCHES)
    (folder / "pytorch_model.bin").write_bytes(b"no pickle")
    edit(folder, "adapter_config.json", base_model_name_or_path="/etc", peft_type="LORA")
    edit(folder, INDEX, weight_map={"a": "../../private/x.safetensors"})
    model = load(str(folder))
    assert model.layers == 3
    assert model.probe_error < 1e-5
    own_code, adapter = model.notes
    assert "never runs: what you see is the bert of transformers" in own_code
    assert "is not applied: merge it" in adapter


def _as_cached(sound: Path, cache: Path) -> Path:
    """The folder as the hub's client lays it out: names in snapshots, contents in blobs."""
    snapshot, blobs = cache / "snapshots" / "0123abc", cache / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, file in enumerate(sorted(sound.iterdir())):
        shutil.copy(file, blobs / str(number))
        (snapshot / file.name).symlink_to(Path("../../blobs") / str(number))
    return snapshot


def test_links_of_the_hub_cache_are_followed_where_they_stay_in_it(
    sound: Path, tmp_path: Path, outside: Path
) -> None:
    snapshot = _as_cached(sound, tmp_path / "models--a--b")
    assert load(str(snapshot)).layers == 3
    for file in ("vocab.txt", TOKENIZER, CONFIG, WEIGHTS):
        spoilt = _as_cached(sound, tmp_path / file)
        linked(file)(spoilt, outside)
        with pytest.raises(ModelError, match="leads somewhere else"):
            load(str(spoilt))
    blobs = tmp_path / "models--a--b" / "blobs"
    blobs.rename(tmp_path / "elsewhere")
    blobs.symlink_to(tmp_path / "elsewhere")
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
