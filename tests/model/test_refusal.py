"""Nothing but a ModelError leaves core.model, and what is the caller's own passes through."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import RerunException, StopException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from core.model import (
    LoadedModel,
    ModelError,
    choose_texts,
    load,
    memory,
    trace_by_length,
    trace_corpus,
    trace_repeated,
    trace_text,
)
from core.model.errors import OutOfMemoryError
from core.model.refusal import refusing
from core.model.weights.output_projection import transformed_norms
from core.model.weights.query_key import weight_similarity
from tests.conftest import FolderOf, ModelOf

TEXTS = ["The cat sat.", "Where is it?"]


class PanicException(BaseException):
    """As pyo3 raises it: no Exception."""


ERRORS = [
    ZeroDivisionError(),
    RecursionError(),
    KeyError("x"),
    IndexError("index out of range in self"),
    RuntimeError("shapes"),
    PanicException("called `Option::unwrap()` on a `None` value"),
]
ACTIONS: dict[str, Callable[[LoadedModel], object]] = {
    "trace_text": lambda model: trace_text(model, TEXTS[0]),
    "trace_corpus": lambda model: list(trace_corpus(model, TEXTS)),
    "trace_by_length": lambda model: list(trace_by_length(model, TEXTS)),
    "trace_repeated": lambda model: list(trace_repeated(model, length=4)),
}


def failing(error: BaseException) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_a_network_or_a_tokenizer_raises_is_one_sentence(
    error: BaseException, model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of("bert")
    with monkeypatch.context() as patch:
        patch.setattr(model.network, "forward", failing(error))
        for action in ACTIONS.values():
            with pytest.raises(ModelError, match="cannot be run on this text") as caught:
                action(model)
            assert "unwrap" not in str(caught.value)
    monkeypatch.setattr("core.model.text.inputs.read_tokens", failing(error))
    monkeypatch.setattr(type(model.tokenizer), "__call__", failing(error))
    for action in (*ACTIONS.values(), lambda model: choose_texts(model, TEXTS, 100)):
        with pytest.raises(ModelError):
            action(model)
    assert not model.tokenizer_lock.locked()


def test_weights_that_cannot_be_taken_apart_are_one_sentence(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of("bert")
    trace = trace_text(model, TEXTS[0])
    for name in ("named_modules", "get_submodule"):
        monkeypatch.setattr(model.network, name, failing(AttributeError()))
    with pytest.raises(ModelError, match="weights that cannot be read"):
        transformed_norms(model, trace)
    with pytest.raises(ModelError, match="weights that cannot be read"):
        weight_similarity(model)


SIGNALS = (KeyboardInterrupt(), SystemExit(), GeneratorExit(), StopException())


@pytest.mark.parametrize("signal", [*SIGNALS, RerunException(RerunData())], ids=repr)
def test_signals_pass_as_they_are(signal: BaseException) -> None:
    with pytest.raises(type(signal)) as caught, refusing("x", "run"):
        raise signal
    assert caught.value is signal


@pytest.mark.parametrize("walk", [trace_corpus, trace_by_length])
def test_what_the_caller_raises_in_its_texts_or_between_two_traces_is_the_callers(
    walk: Callable[..., Iterator[object]], model_of: ModelOf
) -> None:
    def texts() -> Iterator[str]:
        yield TEXTS[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(trace_corpus(model_of("bert"), texts(), batch_size=1))
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        for _ in walk(model_of("bert"), TEXTS):
            raise ZeroDivisionError


def test_the_log_names_the_place_and_neither_the_text_nor_the_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    name, text = "my/model", "Dear diary"
    with caplog.at_level(logging.WARNING), pytest.raises(ModelError), refusing(name, "run"):
        failing(ValueError(text))()
    assert "ValueError" in caplog.text
    assert "test_refusal.py" in caplog.text
    assert name not in caplog.text
    assert text not in caplog.text


def test_a_word_without_a_vector_is_refused_when_it_is_typed(
    folder_of: FolderOf, tmp_path: Path
) -> None:
    """The sentence of the check has vectors for all its tokens; another word has none."""
    folder = Path(shutil.copytree(folder_of("bert"), tmp_path / "foreign"))
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["model"]["vocab"]["xylophone"] = 5000
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    model = load(str(folder))
    assert trace_text(model, "book").shape[0] == 3
    with pytest.raises(ModelError, match=r"the id 5,000, and the model has 320 vectors"):
        trace_text(model, "xylophone")


# ---- memory, in a container too, is compared with what a model needs ---------------------------

MB = 10**6


@pytest.mark.parametrize(
    ("groups", "line", "free_mb"),
    [
        # (folder, limit, used, inactive file pages) of each group, in MB
        ([(".", 500, 460, 400)], "0::/", 440),
        ([(".", None, 200, 0)], "0::/", None),
        # The tightest group counts, and a sibling does not.
        (
            [("pod/app", 900, 100, 0), ("pod", 400, 150, 0), ("other", 10, 10, 0)],
            "0::/pod/app",
            250,
        ),
        # In a container /proc names the host's path, and the mount is the container's own group.
        ([(".", 500, 200, 0)], "0::/docker/0123abc", 300),
        # A path that leaves the mount is not followed.
        ([(".", 500, 200, 0), ("../elsewhere", 1, 0, 0)], "0::/../elsewhere", 300),
        ([(".", 100, 120, 0)], "0::/", 0),
    ],
)
def test_the_tightest_group_around_a_process_leaves_its_limit_minus_what_is_used(
    groups: list[tuple[str, int | None, int, int]],
    line: str,
    free_mb: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mount, process = tmp_path / "cgroup", tmp_path / "proc-self-cgroup"
    process.write_text(f"1:cpu:/x\n{line}\n", "utf-8")
    for folder, limit, used, inactive in groups:
        group = mount / folder
        group.mkdir(parents=True, exist_ok=True)
        (group / "memory.max").write_text("max" if limit is None else f"{limit * MB}\n")
        (group / "memory.current").write_text(f"{used * MB}\n")
        (group / "memory.stat").write_text(f"anon 5\ninactive_file {inactive * MB}\nslab 7\n")
    expected = None if free_mb is None else free_mb * MB
    monkeypatch.setattr(memory, "_GROUPS", mount)
    monkeypatch.setattr(memory, "_OWN_GROUP", process)
    assert memory.container_bytes() == expected


def test_the_tightest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=900 * MB))
    monkeypatch.setattr(memory, "container_bytes", lambda: 300 * MB)
    monkeypatch.setattr(memory, "_address_space_available", lambda: None)
    assert memory.available_bytes() == 300 * MB
    monkeypatch.setattr(memory, "_address_space_available", lambda: 100 * MB)
    assert memory.available_bytes() == 100 * MB


@pytest.mark.parametrize(
    ("error", "means_memory"),
    [
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_running_out_of_memory_while_loading_is_recognised(
    error: Exception, means_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.model.running.network.fill", failing(error))
    with pytest.raises(ModelError) as caught:
        load("bundled/minilm")
    assert isinstance(caught.value, OutOfMemoryError) is means_memory
    assert ("not enough memory to load 'bundled/minilm'" in str(caught.value)) is means_memory
