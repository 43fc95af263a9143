"""A folder whose attention cannot be shown as it is gets refused, in words that help."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file

from core.model import load, trace_text
from core.model.errors import ModelError
from tests.hostile.broken_folders import edit
from tests.model.families import SENTENCES, rewrite, without

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
    refusal(rewrite(copy, without("layer.1.attention.self.query")))


def test_weights_that_lack_only_the_pooler_are_taken(copy: Path) -> None:
    """Masked language models are published without it, and attention does not need it."""
    assert load(str(rewrite(copy, without("pooler")))).probe_error < 1e-5


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
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Network"}
    edit(copy, "config.json", model_type="own", auto_map=own)
    refusal(copy)
    assert not ran.exists()


def test_code_of_its_own_and_an_adapter_are_said_and_not_used(copy: Path) -> None:
    assert load(str(copy)).notes == ()
    edit(copy, "config.json", auto_map={"AutoModel": "own.Network"})
    (copy / "adapter_config.json").write_text("{}")
    own_code, adapter = load(str(copy)).notes
    assert "never runs: what you see is the bert of transformers" in own_code
    assert "is not applied: merge it" in adapter


def test_an_adapter_alone_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    message = refusal(tmp_path)
    assert "an adapter (such as LoRA) without the model" in message
    assert "merge_and_unload()" in message


@pytest.mark.parametrize(
    ("inner", "named"),
    [
        (("checkpoint-500", "checkpoint-1000"), "checkpoint-1000"),
        (("0_Transformer",), "0_Transformer"),
    ],
)
def test_the_folder_inside_that_can_be_opened_is_named(
    inner: tuple[str, ...], named: str, tmp_path: Path
) -> None:
    for name in inner:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    assert f"Open the folder {named} inside it." in refusal(tmp_path)


def test_weights_that_are_no_numbers_are_named(copy: Path) -> None:
    name, spoilt = next(iter(load_file(copy / WEIGHTS).items()))
    spoilt.view(-1)[0] = torch.nan
    rewrite(copy, lambda weights: weights | {name: spoilt})
    message = refusal(copy)
    assert "not finite (NaN or infinity)" in message
    assert name in message


def test_two_networks_in_one_folder_and_a_missing_package_are_named(copy: Path) -> None:
    edit(copy, "config.json", model_type="timm_wrapper", architecture="vit_tiny_patch16_224")
    assert "needs the Python package timm, which is not installed" in refusal(copy)
    part = {"model_type": "bert"}
    edit(copy, "config.json", model_type="encoder-decoder", encoder=part, decoder=part)
    assert "joins two networks of their own" in refusal(copy)
