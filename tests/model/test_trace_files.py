"""A trace as a file: nothing is lost, and a file that is no trace is refused in a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from core.model import Trace, load, trace_image, trace_text
from core.model.errors import TraceFileError
from core.model.sample_images import open_box
from core.model.trace.stored import read_record, write_record
from tests.atlas.files import assert_same
from tests.model.bundled import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import ModelOf

TEXT, PAIR = "The cat saw the dog.", "It ran away."


def trace_of(kind: str, model_of: ModelOf, bart: Path) -> Trace:
    if kind == "image":
        return trace_image(loaded("bundled/vit-scenes"), open_box("three-shapes"))
    if kind == "cross":
        return trace_text(load(str(bart)), TEXT)
    if kind == "pair":
        return trace_text(loaded("bundled/minilm"), TEXT, PAIR)
    return trace_text(model_of(kind), TEXT)


@pytest.mark.parametrize(
    "kind", ["bert", "gpt2", "llama", "gemma2", "bloom", "gpt_oss", "t5", "pair", "cross", "image"]
)
def test_a_trace_comes_back_from_its_file_as_it_was(
    kind: str, model_of: ModelOf, answering_bart: Path, tmp_path: Path
) -> None:
    """Masks, soft caps, sinks, shared keys, biases, patches, and the decoder's traces."""
    trace = trace_of(kind, model_of, answering_bart)
    write_record(trace, tmp_path / "trace.safetensors")
    again = read_record(Trace, tmp_path / "trace.safetensors")
    assert_same(again, trace)
    assert [each.name for each in tmp_path.iterdir()] == ["trace.safetensors"]
    for each, other in zip((trace, *trace.others), (again, *again.others), strict=True):
        assert np.array_equal(each.attention(), other.attention())
    assert not again.queries.flags.writeable
    if kind == "cross":
        assert again.of_type("cross").source == again.tokens
    if kind == "image":
        assert again.patches is not None


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "trace.safetensors"
    write_record(trace_text(loaded("bundled/gpt2-novels"), TEXT), path)
    return path


def test_a_file_is_opened_without_torch(saved: Path) -> None:
    program = (
        "import sys; from core.model import Trace; from core.model.trace.stored import read_record;"
        f"trace = read_record(Trace, {str(saved)!r}); trace.attention();"
        "print([name for name in ('torch', 'transformers', 'pandas') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"


def changed(
    saved: Path, path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]
) -> Path:
    """A copy of the file with other arrays, or another description of them."""
    arrays = load_file(saved)
    with safe_open(saved, framework="np") as file:
        about = dict(file.metadata())
    content = json.loads(about["trace"])
    change(arrays, content)
    save_file(arrays, path, about | {"trace": json.dumps(content)})
    return path


ATTACKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "an array that no trace has": lambda arrays, _: arrays.update(extra=np.zeros(3, np.float32)),
    "numbers of another type": lambda arrays, _: arrays.update(
        queries=arrays["queries"].astype(np.float64)
    ),
    "a name that is no array": lambda _, content: content.update(queries="nothing"),
    "a list for a text": lambda _, content: content.update(model=["x"]),
    "a text for a number": lambda _, content: content.update(dropped="7"),
    "another kind of attention": lambda _, content: content.update(kind="sideways"),
    "a field that no trace has": lambda _, content: content.update(surprise=1),
    "a field that is missing": lambda _, content: content.pop("causal"),
    "half a character": lambda _, content: content.update(model="\ud800"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_changed_file_is_refused_in_a_sentence(attack: str, saved: Path, tmp_path: Path) -> None:
    def change(arrays: dict[str, Any], content: dict[str, Any]) -> None:
        ATTACKS[attack](arrays, content)

    with pytest.raises(TraceFileError, match=r"^[^.].{10,}\.$"):
        read_record(Trace, changed(saved, tmp_path / "x.safetensors", change))


def test_what_is_no_file_of_a_trace_is_refused(saved: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(saved.read_bytes()[:-100])
    long = tmp_path / "long"
    long.write_bytes((10**12).to_bytes(8, "little") + b"{}")
    other = tmp_path / "other"
    save_file({"x": np.zeros(2, np.float32)}, other)
    for path in (cut, long, other, tmp_path, Path("/dev/zero")):
        with pytest.raises(TraceFileError):
            read_record(Trace, path)


def test_a_file_that_is_no_trace_or_too_large_is_refused_before_its_arrays_are_read(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file takes no disk, and declares as many bytes as it likes."""
    header = {"x": {"dtype": "F32", "shape": [2**31], "data_offsets": [0, 2**33]}}
    with safe_open(saved, framework="np") as file:
        about = dict(file.metadata())
    for other, said in (
        ({}, "does not describe itself"),
        (about | {"version": "7"}, "version '7'"),
        (about, "8,590 MB"),
    ):
        monkeypatch.setattr("core.model.memory.available_bytes", lambda: 10**10)
        content = json.dumps(header | {"__metadata__": other}).encode()
        path = tmp_path / "sparse"
        with path.open("wb") as sparse:
            sparse.write(len(content).to_bytes(8, "little") + content)
            sparse.truncate(8 + len(content) + 2**33)
        with pytest.raises(TraceFileError, match=said):
            read_record(Trace, path)
