"""A folder whose attention cannot be shown as it is gets refused, in words that help."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.model import load, trace_text
from core.model.errors import ModelError
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from tests.conftest import FolderOf, OracleOf

WEIGHTS = "model.safetensors"


def refusal(folder: Path) -> str:
    """What a person is told when the folder is given as a model; it names the folder."""
    with pytest.raises(ModelError) as caught:
        load(str(folder))
    message = str(caught.value)
    assert folder.name in message
    return message


@pytest.fixture
def copy(folder_of: FolderOf, tmp_path: Path) -> Path:
    """A copy of the tiny BERT, free to be spoilt."""
    return Path(shutil.copytree(folder_of("bert"), tmp_path / "spoilt-bert"))


def rewrite_weights(folder: Path, change: dict[str, torch.Tensor | None]) -> None:
    """Replace tensors whose name contains a key of `change`; None leaves them out."""
    weights = load_file(folder / WEIGHTS)
    for part, replacement in change.items():
        matching = [name for name in weights if part in name]
        assert matching
        for name in matching:
            tensor = weights.pop(name)
            if replacement is not None:
                weights[name] = replacement.expand_as(tensor).contiguous()
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def test_a_folder_with_nothing_but_pickled_weights_is_refused(copy: Path) -> None:
    torch.save(load_file(copy / WEIGHTS), copy / "pytorch_model.bin")
    (copy / WEIGHTS).unlink()
    assert "safetensors" in refusal(copy)


def test_weights_in_several_files_are_read_and_a_missing_file_is_refused(
    copy: Path, oracle_of: OracleOf
) -> None:
    (copy / WEIGHTS).unlink()
    oracle_of("bert").network.save_pretrained(copy, max_shard_size="20KB")
    shards = sorted(copy.glob("model-*.safetensors"))
    assert len(shards) > 1
    attention = trace_text(load(str(copy)), SENTENCES[0]).attention()
    assert abs(attention - oracle_of("bert").attention(SENTENCES[0])).max() < 1e-5
    shards[0].unlink()
    refusal(copy)


def test_weights_that_lack_a_layers_queries_are_refused(copy: Path) -> None:
    """Otherwise random numbers would pass for the model's attention."""
    rewrite_weights(copy, {"layer.1.attention.self.query": None})
    refusal(copy)


def test_weights_that_lack_only_the_pooler_are_taken(copy: Path) -> None:
    """Masked language models are published without it, and attention does not need it."""
    rewrite_weights(copy, {"pooler": None})
    assert load(str(copy)).probe_error < 1e-5


@pytest.mark.parametrize("kind", ["missing", "empty", "other files", "a file"])
def test_a_path_without_a_model_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "holiday-letters"
    if kind == "a file":
        path.write_text("Dear all, the weather is fine.", encoding="utf-8")
    elif kind != "missing":
        path.mkdir()
    if kind == "other files":
        (path / "letter.txt").write_text("Dear all, the weather is fine.", encoding="utf-8")
    assert "no model" in refusal(path) or "no folder" in refusal(path)


def test_code_that_comes_with_a_folder_is_never_run(copy: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (copy / "own.py").write_text(
        f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n"
        "from transformers import BertConfig as Config, BertModel as Network\n",
        encoding="utf-8",
    )
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    config["model_type"] = "own"
    config["auto_map"] = {"AutoConfig": "own.Config", "AutoModel": "own.Network"}
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    refusal(copy)
    assert not ran.exists()
