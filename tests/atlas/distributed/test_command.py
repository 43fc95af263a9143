"""The command with --ray makes what it makes without; Ray is needed by nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from core import atlas_build
from core.atlas.distributed.session import LOCAL, ClusterError, Workers, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.conftest import FolderOf

ROOT = Path(__file__).parents[3]
LINES = [f"It rains {'again and ' * (number % 5)}again." for number in range(60)]


def command(folder_of: FolderOf, corpus: Path, out: Path, *more: str) -> list[str]:
    given = ["--model", str(folder_of("bert")), "--corpus", str(corpus), "--out", str(out)]
    return [*given, "--part-tokens", "100", *more]


@pytest.mark.ray
def test_two_workers_write_what_one_process_writes(folder_of: FolderOf, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    corpus, outs = tmp_path / "corpus", (tmp_path / "one.atlas", tmp_path / "two.atlas")
    corpus.mkdir()
    (corpus / "a.txt").write_text("\n".join(LINES[:50]))
    (corpus / "b.txt").write_text("\n\n".join(LINES[50:]))
    assert atlas_build.main(command(folder_of, corpus, outs[0])) == 0
    with_ray = command(folder_of, corpus, outs[1], "--ray", "local", "--workers", "2")
    assert atlas_build.main(with_ray) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "one.atlas", "two.atlas"]
    for name in ("sentences", "tokens"):
        pd.testing.assert_frame_equal(rows_of(outs[0], name), rows_of(outs[1], name))
    points = [rows_of(out, "points") for out in outs]
    assert len(points[0]) > 1_000
    pd.testing.assert_frame_equal(points[0], points[1], check_exact=False, rtol=1e-6, atol=1e-6)
    check_arrays(load_file(outs[0] / "atlas.safetensors"), load_file(outs[1] / "atlas.safetensors"))
    one, two = (json.loads((out / "atlas.json").read_text()) for out in outs)
    assert two == one
    names = [sorted(path.name for path in out.glob("search-*")) for out in outs]
    assert names[0] == names[1] != []
    for name in names[0]:
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()


def rows_of(out: Path, name: str) -> pd.DataFrame:
    """All rows of one kind in the folder of an atlas, in their one order."""
    rows = pd.concat(map(pd.read_parquet, sorted(out.glob(f"{name}-*.parquet"))))
    order = [key for key in ("layer", "head", "sentence", "position") if key in rows]
    return rows.sort_values(order).reset_index(drop=True)


def check_arrays(one: dict[str, NDArray[Any]], two: dict[str, NDArray[Any]]) -> None:
    assert one.keys() == two.keys()
    for name, array in one.items():
        if array.dtype == np.uint32:  # a point on the edge of a cell may be on either side of it
            assert two[name].sum() == array.sum() > 0
            assert np.abs(two[name].astype(int) - array).sum() <= 1e-3 * array.sum()
        else:
            size = np.abs(array[np.isfinite(array)]).max(initial=1)
            np.testing.assert_allclose(two[name], array, rtol=1e-5, atol=1e-6 * size)


def test_without_ray_the_command_says_what_to_install(
    folder_of: FolderOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "a.txt").write_text("It rains.")
    given = command(folder_of, tmp_path / "a.txt", tmp_path / "a.atlas.zip", "--ray", "local")
    assert atlas_build.main(given) == 2
    assert "pip install -r core/atlas/distributed/requirements.txt" in capsys.readouterr().err


@pytest.mark.ray
def test_a_cluster_that_is_not_there_is_told_in_one_line(
    folder_of: FolderOf,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))  # where a running cluster leaves its address
    (tmp_path / "a.txt").write_text("It rains.")
    for address, words in (
        ("auto", "`ray start` has not been given"),
        ("127.0.0.1:9", "No Ray at 127.0.0.1:9"),
        ("ray://head:10001", "ray job submit"),
    ):
        given = command(folder_of, tmp_path / "a.txt", tmp_path / "a.atlas.zip", "--ray", address)
        assert atlas_build.main(given) == 2
        (line,) = [one for one in capsys.readouterr().err.splitlines() if one.startswith("error")]
        assert words in line


@pytest.mark.ray
def test_a_cluster_that_ended_without_a_word_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:9\n")
    with pytest.raises(ClusterError, match=r"No Ray at auto: .*refused"), joined("auto"):
        pass


@pytest.mark.slow
def test_neither_the_app_nor_the_small_command_imports_ray() -> None:
    code = (
        "import sys, core.atlas_build, core.screens.atlas.corpus.making\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'ray'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["[]"]


@pytest.mark.ray
def test_a_worker_that_asks_for_more_cores_than_there_are_does_not_wait_for_ever() -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    with joined(LOCAL, cores=1_000) as workers:
        assert workers == Workers(1, 1_000, 0)
