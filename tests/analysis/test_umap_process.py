"""UMAP's process: killed, started again, with nowhere to write, and what is said of it.

Most tests put a small module in UMAP's place, which does in the process what its test asks for.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.projections import umap_process
from core.analysis.projections.joint_embedding import embed
from core.analysis.projections.umap_process import ATTEMPTS, CACHE, ProjectionError, fit_umap
from tests.analysis.test_joint_embedding import (
    DEGENERATE,
    DIMENSIONS,
    METRICS,
    check_neighbours,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = np.random.default_rng(0).normal(size=(20, 5))
STAND_IN = """
import os, signal, sys
from pathlib import Path

HERE = Path(__file__).parent
with (HERE / "starts").open("a") as file:
    file.write(f"{os.getpid()}\\n")

class UMAP:
    def __init__(self, n_components, **settings):
        self.components = n_components

    def fit_transform(self, rows):
        exec((HERE / "deed").read_text())
        return rows[:, : self.components] + 1
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"


class StandIn:
    """What runs where UMAP would, and how often its process was started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "umap.py").write_text(STAND_IN)
        self.does("")

    def does(self, deed: str) -> None:
        (self.folder / "deed").write_text(deed)

    def starts(self) -> int:
        file = self.folder / "starts"
        return file.read_text().count("\n") if file.exists() else 0


def end_process() -> None:
    if umap_process._process is not None:
        umap_process._process.kill()
        umap_process._process.wait()


@pytest.fixture
def fresh() -> Iterator[None]:
    """No process before, and none left."""
    end_process()
    yield
    end_process()


@pytest.fixture
def stand_in(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return StandIn(tmp_path)


def fit() -> np.ndarray:
    return fit_umap(ROWS, 2, 5, 0)


def check_works() -> None:
    np.testing.assert_allclose(fit(), ROWS[:, :2] + 1, atol=1e-6)


@pytest.mark.nightly
def test_a_process_killed_twice_over_a_request_is_started_a_third_time(stand_in: StandIn) -> None:
    mark = stand_in.folder / "kills"
    stand_in.does(f"""
with open({str(mark)!r}, "a") as file: file.write("x")
if len(Path({str(mark)!r}).read_text()) < {ATTEMPTS}: {KILL}
""")
    check_works()
    assert stand_in.starts() == ATTEMPTS == 3


def test_a_process_that_is_always_killed_is_given_up_and_the_next_request_works(
    stand_in: StandIn,
) -> None:
    stand_in.does(KILL)
    with pytest.raises(ProjectionError, match=r"stopped 3 times .* too little memory"):
        fit()
    assert stand_in.starts() == ATTEMPTS
    stand_in.does("")
    check_works()


@pytest.mark.nightly
def test_a_layout_that_hangs_is_ended_and_holds_up_others_for_a_while_only(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_works()  # it has started
    monkeypatch.setattr(umap_process, "LIMIT_SECONDS", 5.0)
    stand_in.does("(HERE / 'hangs').touch(); import time; time.sleep(300)")
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(fit)
        assert wait_for((stand_in.folder / "hangs").exists)
        monkeypatch.setattr(umap_process, "LIMIT_SECONDS", 0.1)
        with pytest.raises(ProjectionError, match="busy with the points of others"):
            fit()
        with pytest.raises(ProjectionError, match="took too long"):
            hanging.result(60)
    monkeypatch.undo()
    monkeypatch.setenv("PYTHONPATH", str(stand_in.folder))
    stand_in.does("")
    check_works()
    assert stand_in.starts() == 2


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("raise ValueError('/srv/secret: n_neighbors')", "UMAP refused these points."),
        ("raise MemoryError('/srv/secret')", "There is too little memory for UMAP"),
    ],
)
def test_a_page_is_given_a_sentence_and_the_log_the_rest(
    stand_in: StandIn, deed: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    stand_in.does(deed)
    with pytest.raises(ProjectionError, match=message) as raised:
        fit()
    assert "secret" not in str(raised.value)
    assert "/srv/secret" in capfd.readouterr().err
    stand_in.does("")
    check_works()
    assert stand_in.starts() == 1  # it went on


def test_a_umap_or_a_process_that_cannot_be_started_is_told_without_a_path(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stand_in.folder / "umap.py").write_text("raise RuntimeError('cannot cache in /srv/secret')")
    for executable in (sys.executable, "/srv/secret/python"):
        end_process()
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(ProjectionError, match=r"^UMAP cannot be started on this server\.$"):
            fit()


def wait_for(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not holds():
        time.sleep(0.02)
    return holds()


def cache_seen(stand_in: StandIn) -> str:
    """The folder that the process was given."""
    stand_in.does(f"(HERE / 'cache').write_text(os.environ.get({CACHE!r}, ''))")
    fit()
    return (stand_in.folder / "cache").read_text()


def test_the_cache_is_a_private_folder(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE, raising=False)
    folder = Path(cache_seen(stand_in))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.stat().st_uid == os.getuid()


def test_the_cache_is_gone_when_the_server_ends(stand_in: StandIn) -> None:
    script = """
import numpy as np
from core.analysis.projections import umap_process
umap_process.fit_umap(np.zeros((3, 2)), 2, 2, 0)
print(umap_process._cache_folder())
"""
    environment = {key: value for key, value in os.environ.items() if key != CACHE}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=umap_process._ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("umap-")
    assert not folder.exists()


@pytest.mark.nightly
def test_a_process_that_nobody_asks_ends_and_is_started_again(stand_in: StandIn) -> None:
    check_works()
    process = umap_process._process
    assert process is not None
    assert process.wait(timeout=60) == 0
    check_works()
    assert stand_in.starts() == 2


@pytest.mark.nightly
def test_what_was_compiled_is_kept_and_the_process_that_compiled_it_is_not(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    first = fit()
    compiling = umap_process._process
    assert compiling is not None
    assert compiling.wait(timeout=20) == 0
    kept = set(tmp_path.rglob("*.nbc"))
    assert kept
    for _ in range(2):
        np.testing.assert_array_equal(fit(), first)
    assert umap_process._process is not None
    assert umap_process._process.poll() is None  # both times the same
    assert set(tmp_path.rglob("*.nbc")) == kept


@pytest.mark.nightly
def test_the_curve_is_umaps_own() -> None:
    from umap.umap_ import find_ab_params

    given = umap_process._CURVE["a"], umap_process._CURVE["b"]
    np.testing.assert_allclose(find_ab_params(1.0, 0.1), given, rtol=1e-6)


@pytest.mark.nightly
def test_umap_itself_is_steady_and_keeps_neighbours(fresh: None) -> None:
    """All of UMAP in one test: its process takes half a minute to start."""
    for dimensions, metric in zip(DIMENSIONS, METRICS, strict=True):
        check_neighbours("UMAP", dimensions, metric)
    for queries, keys in DEGENERATE.values():
        for dimensions in DIMENSIONS:
            found = embed(queries, keys, "UMAP", dimensions=dimensions)
            assert found.queries.shape == found.keys.shape == (len(queries), dimensions)
            assert np.isfinite(found.queries).all()
            assert np.isfinite(found.keys).all()
