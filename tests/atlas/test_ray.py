"""Ray: many workers make the atlas that one makes, and the command says what stops it."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from core import atlas_build
from core.atlas.command_line.plan import tracer_of
from core.atlas.distributed.session import LOCAL, ClusterError, Workers, joined
from core.atlas.distributed.workers import (
    Work,
    read_chunk,
    trace_chunks,
    write_chunk,
)
from core.atlas.engine.build import MemoryStore, Row, chunks_of, walk
from core.corpus.sample import sample_sentences
from core.model import load
from core.model.errors import UnknownModelError
from tests.atlas.files import assert_same
from tests.conftest import FolderOf

# Ray makes a token in the home folder where there is none; of two processes that do so at the same
# time, one would be left with the other's.
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Workers]:
    """Ray on this machine, with room for two workers of one core."""
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    with joined(LOCAL, workers=2) as workers:
        yield workers


def command(model: object, corpus: Path, out: Path, *more: str) -> list[str]:
    given = ["--model", str(model), "--corpus", str(corpus), "--out", str(out)]
    return [*given, "--part-tokens", "100", *more]


def test_without_ray_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert atlas_build.main(command("m", tmp_path, tmp_path / "a.atlas", "--ray", "local")) == 2
    assert "pip install -r core/atlas/distributed/requirements.txt" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_cluster_that_is_not_there_or_too_small_is_told_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))  # where a running cluster leaves its address
    for address, words in (
        ("auto", "`ray start` has not been given"),
        ("127.0.0.1:9", "No Ray at 127.0.0.1:9"),
        ("ray://head:10001", "ray job submit"),
    ):
        with pytest.raises(ClusterError, match=words), joined(address):
            pass
    (tmp_path / "ray").mkdir()  # of a cluster that ended without a word
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:9\n")
    with pytest.raises(ClusterError, match=r"No Ray at auto: .*refused"), joined("auto"):
        pass
    monkeypatch.delenv("RAY_TMPDIR")
    with joined(LOCAL, cores=1_000) as workers:  # for ever, otherwise
        assert workers == Workers(1, 1_000, 0)


ROWS = [Row(at, len(text.split()) + 2, text) for at, text in enumerate(sample_sentences()[:160])]
CHUNKS = list(chunks_of(ROWS, 40))
LINES = [f"It rains {'again and ' * (number % 5)}again." for number in range(60)]


@pytest.fixture
def work(folder_of: FolderOf, tmp_path: Path) -> Work:
    """Some forty parts of a small corpus, none of them traced."""
    work = Work("tiny", str(folder_of("bert")), tmp_path / "parts", batch_tokens=64)
    work.folder.mkdir()
    for chunk in CHUNKS:
        write_chunk(work.folder, chunk)
    return work


def tracing() -> Iterator[psutil.Process]:
    """The processes that hold the model."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "Tracer" in " ".join(process.cmdline()):
                yield process


def test_texts_travel_to_a_worker_as_they_are(tmp_path: Path) -> None:
    rows = [Row(7, 3, "naïve \N{CAT}\n\u2028", "good"), Row(9, 1, "", "—")]
    (chunk,) = chunks_of(rows, 100)
    write_chunk(tmp_path, chunk)
    assert read_chunk(tmp_path, 0) == chunk
    (unlabelled,) = chunks_of([Row(7, 3, "It rains.")], 100)
    write_chunk(tmp_path, unlabelled)
    assert read_chunk(tmp_path, 0) == unlabelled


@pytest.mark.nightly
def test_a_stopped_build_goes_on_and_a_killed_worker_costs_time_only(
    work: Work, two_workers: Workers
) -> None:
    chunks = [read_chunk(work.folder, chunk.index) for chunk in CHUNKS]
    model = replace(load(work.source), name=work.model)
    begun = walk(chunks[:3], tracer_of(model, 64), work.store)
    written = [work.store.path(index).stat().st_mtime_ns for index in range(3)]
    assert begun is not None
    killed: list[psutil.Process] = []
    done: list[int] = []

    def kill_one(tokens: int) -> None:
        done.append(tokens)
        if len(done) == 4:  # the three before it are those that were finished
            assert not all(map(work.store.finished, range(len(CHUNKS))))
            killed.append(next(tracing()))
            killed[0].send_signal(signal.SIGKILL)
            killed[0].wait(60)

    sums = trace_chunks(work, chunks, two_workers, kill_one)
    assert killed
    assert len(done) == len(chunks)
    assert written == [work.store.path(index).stat().st_mtime_ns for index in range(3)]
    alone = walk(chunks, tracer_of(model, 64), MemoryStore())
    assert_same(sums, alone, tolerance=1e-9)  # added in another order


@pytest.mark.nightly
def test_two_workers_write_what_one_process_writes(
    folder_of: FolderOf, tmp_path: Path, two_workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command joins the Ray that is here, which was started as it asks for."""

    @contextlib.contextmanager
    def join(*asked: object) -> Iterator[Workers]:
        assert asked == (LOCAL, 2, 1)
        yield two_workers

    monkeypatch.setattr(atlas_build, "joined", join)
    corpus, outs = tmp_path / "corpus", (tmp_path / "one.atlas", tmp_path / "two.atlas")
    corpus.mkdir()
    (corpus / "a.txt").write_text("\n".join(LINES[:50]))
    (corpus / "b.txt").write_text("\n\n".join(LINES[50:]))
    assert atlas_build.main(command(folder_of("bert"), corpus, outs[0])) == 0
    with_ray = command(folder_of("bert"), corpus, outs[1], "--ray", LOCAL, "--workers", "2")
    assert atlas_build.main(with_ray) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "one.atlas", "two.atlas"]
    names = [sorted(path.name for path in out.iterdir()) for out in outs]
    assert names[0] == names[1]
    for name in names[0]:
        one, two = (out / name for out in outs)
        if name.endswith(".parquet"):
            assert one.read_bytes() == two.read_bytes()
        else:
            check_arrays(load_file(one), load_file(two))


def check_arrays(one: dict[str, NDArray[Any]], two: dict[str, NDArray[Any]]) -> None:
    assert one.keys() == two.keys()
    for name, array in one.items():
        size = np.abs(array[np.isfinite(array)]).max(initial=1)
        np.testing.assert_allclose(two[name], array, rtol=1e-5, atol=1e-6 * size)


@pytest.mark.nightly
def test_what_goes_wrong_in_a_worker_is_told_as_if_it_were_here(
    work: Work, two_workers: Workers
) -> None:
    elsewhere = replace(work, source="/no/such/folder")
    with pytest.raises(UnknownModelError) as caught:
        trace_chunks(elsewhere, CHUNKS[:1], replace(two_workers, count=1), lambda _: None)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("There is no folder '/no/such/folder' on this machine.")
    assert "In a worker" in "".join(caught.value.__notes__)


@pytest.mark.nightly
def test_auto_is_no_cluster_that_another_program_has_for_itself(
    two_workers: Workers, tmp_path: Path
) -> None:
    code = (
        "from core.atlas.distributed.session import ClusterError, joined\n"
        "try:\n    with joined('auto'):\n        print('joined')\n"
        "except ClusterError as error:\n    print(error)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=environment | {"RAY_TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert two_workers.count == 2
    assert "`ray start` has not been given" in done.stdout
