"""What a folder holds beside plain weights: it is refused in a sentence, or said and not used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.model import load
from core.model.errors import ModelError
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from pathlib import Path


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load(str(folder))
    return str(caught.value)


def change_config(folder: Path, **settings: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | settings), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build(FAMILIES["bert"], tmp_path)


def test_code_of_its_own_and_an_adapter_are_said_and_not_used(folder: Path) -> None:
    assert load(str(folder)).notes == ()
    change_config(folder, auto_map={"AutoModel": "own.Network"})
    (folder / "adapter_config.json").write_text("{}")
    own_code, adapter = load(str(folder)).notes
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


def test_weights_that_are_no_numbers_are_named(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    name = next(iter(weights))
    weights[name].view(-1)[0] = torch.nan
    save_file(weights, folder / "model.safetensors")
    message = refusal(folder)
    assert "not finite (NaN or infinity)" in message
    assert name in message


def test_two_networks_in_one_folder_and_a_missing_package_are_named(folder: Path) -> None:
    change_config(folder, model_type="timm_wrapper", architecture="vit_tiny_patch16_224")
    assert "needs the Python package timm, which is not installed" in refusal(folder)
    part = {"model_type": "bert"}
    change_config(folder, model_type="encoder-decoder", encoder=part, decoder=part)
    assert "joins two networks of their own" in refusal(folder)
