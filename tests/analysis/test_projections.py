"""Pictures of queries and keys against scikit-learn, and UMAP's process.

It is killed, started again, has nowhere to write. Most of its tests put a small module in UMAP's
place, which does in the process what its test asks for.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.preprocessing import normalize

from core.analysis.arrays import Floats
from core.analysis.projections import umap_process
from core.analysis.projections.joint_embedding import Embedding, Metric, Projection, embed
from core.analysis.projections.umap_process import (
    ATTEMPTS,
    CACHE,
    ProjectionError,
    fit_umap,
    nearest_rows,
)
from tests.analysis.traces import clouds

SEEDS = st.integers(0, 2**32 - 1)
METRICS: tuple[Metric, ...] = get_args(Metric)
QUICK: tuple[Projection, ...] = ("PCA", "t-SNE")
DIMENSIONS = (2, 3)
steady = settings(deadline=None, max_examples=20)
without_warning = pytest.mark.filterwarnings("error")


def stacked(picture: Embedding) -> Floats:
    return np.vstack([picture.queries, picture.keys])


@without_warning
@steady
@given(SEEDS, st.integers(2, 9), st.integers(3, 6), st.sampled_from(METRICS))
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_pca_is_that_of_the_stacked_cloud_up_to_sign(
    dimensions: int, seed: int, size: int, dim: int, metric: Metric
) -> None:
    queries, keys = clouds(seed, size, dim)
    rows = np.vstack([queries, keys])
    oracle = PCA(dimensions, svd_solver="full")
    expected = oracle.fit_transform(normalize(rows) if metric == "cosine" else rows)
    found = embed(queries, keys, "PCA", dimensions=dimensions, metric=metric)
    assert found.queries.shape == found.keys.shape == (size, dimensions)
    signs = np.sign((stacked(found) * expected).sum(axis=0))
    np.testing.assert_allclose(stacked(found) * signs, expected, atol=1e-8 * np.abs(rows).max())
    assert found.share == pytest.approx(oracle.explained_variance_ratio_.sum(), abs=1e-12)


def check_neighbours(projection: Projection, dimensions: int, metric: Metric) -> None:
    """The same each time, finite, and neighbours near each other: four far groups of tokens."""
    rng = np.random.default_rng(0)
    corners = np.eye(6)[np.arange(20) % 4] * 10
    queries, keys = (corners + rng.normal(size=(20, 6)) * 0.1 for _ in range(2))
    before = queries.copy(), keys.copy()
    first, second = (
        embed(queries, keys, projection, dimensions=dimensions, metric=metric) for _ in range(2)
    )
    np.testing.assert_array_equal(stacked(first), stacked(second))
    assert first.queries.shape == first.keys.shape == (20, dimensions)
    assert np.isfinite(stacked(first)).all()
    assert first.share is None
    rows = np.vstack(before)
    np.testing.assert_array_equal(rows, np.vstack([queries, keys]))
    assert trustworthiness(rows, stacked(first), n_neighbors=5, metric=metric) > 0.9
    # keys in another order than they came in would not do
    shuffled = np.vstack([first.queries, first.keys[::-1]])
    assert trustworthiness(rows, shuffled, n_neighbors=5, metric=metric) < 0.9


@pytest.mark.nightly
@without_warning
@pytest.mark.parametrize(("dimensions", "metric"), zip(DIMENSIONS, METRICS, strict=True))
def test_tsne_is_steady_and_keeps_neighbours(dimensions: int, metric: Metric) -> None:
    check_neighbours("t-SNE", dimensions, metric)


DEGENERATE: dict[str, tuple[Floats, Floats]] = {
    "one token": clouds(0, 1, 5),
    "two tokens": clouds(0, 2, 5),
    "head of one dimension": clouds(0, 6, 1),
    "identical tokens": (np.tile([1.0, 2, 3], (6, 1)), np.tile([-1.0, 0, 1], (6, 1))),
    "constant keys": (clouds(0, 6, 5)[0], np.ones((6, 5))),
    "constant queries": (np.ones((6, 5)), clouds(0, 6, 5)[1]),
    "a key of no length": (clouds(0, 6, 5)[0], clouds(0, 6, 5)[1] * (np.arange(6) != 2)[:, None]),
    "no length": (np.zeros((5, 3)), np.zeros((5, 3))),
    "one point of many": (np.ones((5, 3)), np.ones((5, 3))),
}


@without_warning
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("metric", METRICS)
def test_degenerate_heads_have_a_picture(name: str, metric: Metric) -> None:
    queries, keys = DEGENERATE[name]
    for projection in QUICK:
        found = embed(queries, keys, projection, dimensions=3, metric=metric)
        assert found.queries.shape == found.keys.shape == (len(queries), 3)
        assert np.isfinite(stacked(found)).all()
        assert projection == "t-SNE" or 0 <= (found.share or 0) <= 1 + 1e-12


@without_warning
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_nearest_rows_are_those_of_a_plain_search(metric: str) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 32)).astype(np.float32)
    indices, distances = nearest_rows(rows, 6, metric)
    exact = cdist(rows, rows, metric)
    np.testing.assert_array_equal(indices, np.argsort(exact, axis=1)[:, :6])
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :6], atol=1e-6)
    assert not distances[:, 0].any()


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
        deadline = time.monotonic() + 20
        while not (stand_in.folder / "hangs").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
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


def test_a_page_is_given_a_sentence_and_the_log_the_rest(
    stand_in: StandIn, capfd: pytest.CaptureFixture[str]
) -> None:
    for deed, message in (
        ("raise ValueError('/srv/secret: n_neighbors')", "UMAP refused these points."),
        ("raise MemoryError('/srv/secret')", "There is too little memory for UMAP"),
    ):
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


def test_the_cache_is_a_private_folder_and_gone_when_the_server_ends(stand_in: StandIn) -> None:
    script = """
import numpy as np
from pathlib import Path
from core.analysis.projections import umap_process
umap_process.fit_umap(np.zeros((3, 2)), 2, 2, 0)
status = Path(umap_process._cache_folder()).stat()
print(umap_process._cache_folder(), status.st_mode, status.st_uid)
"""
    stand_in.does(f"(HERE / 'cache').write_text(os.environ.get({CACHE!r}, ''))")
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=umap_process._ROOT,
        env={key: value for key, value in os.environ.items() if key != CACHE},
        capture_output=True,
        text=True,
        check=True,
    )
    folder, mode, owner = done.stdout.split()
    assert (stat.S_IMODE(int(mode)), int(owner)) == (0o700, os.getuid())
    assert (stand_in.folder / "cache").read_text() == folder  # what the process was given
    assert Path(folder).name.startswith("umap-")
    assert not Path(folder).exists()


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
    for (queries, keys), dimensions in product(DEGENERATE.values(), DIMENSIONS):
        found = embed(queries, keys, "UMAP", dimensions=dimensions)
        assert found.queries.shape == found.keys.shape == (len(queries), dimensions)
        assert np.isfinite([found.queries, found.keys]).all()
