"""A large atlas on the command line: a folder of parts, equal to what is built in memory."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from core import atlas_build
from core.atlas import build_atlas
from core.atlas.command_line import output
from core.atlas.files import read_atlas
from core.model import trace_by_length
from tests.atlas.command_line.test_atlas_build import LABELS, TEXTS, command, last_line, partial
from tests.atlas.command_line.test_atlas_build import corpus as corpus  # noqa: PLC0414 - a fixture
from tests.model.test_refusal import failing

if TYPE_CHECKING:
    from pathlib import Path

    from core.atlas import Atlas
    from tests.conftest import FolderOf, ModelOf


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "reviews.atlas"


def in_memory(model_of: ModelOf, name: str) -> Atlas:
    return build_atlas(trace_by_length(model_of(name), TEXTS, batch_tokens=60), TEXTS, LABELS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "modernbert"])
def test_the_parts_hold_what_is_built_in_memory(
    name: str, folder_of: FolderOf, model_of: ModelOf, corpus: Path, out: Path
) -> None:
    """Also with keys that heads share (llama), and windows that slide (modernbert)."""
    assert atlas_build.main(command(folder_of(name), corpus, out)) == 0
    atlas = in_memory(model_of, name)
    layers, heads, tokens = atlas.shape
    assert not partial(out).exists()
    assert len(list(out.glob("points-*.parquet"))) > 2
    rows = 0
    found: dict[tuple[int, int], list[np.ndarray]] = {}
    for path in sorted(out.glob("points-*.parquet")):
        table = pq.read_table(path)
        rows += table.num_rows
        columns = [f"{side}_raw_{axis}" for side in ("query", "key") for axis in "xyz"]
        values = np.column_stack([table.column(column).to_numpy() for column in columns])
        places = zip(table["layer"].to_pylist(), table["head"].to_pylist(), strict=True)
        for place, value in zip(places, values, strict=True):
            found.setdefault(place, []).append(value)
    assert rows == layers * heads * tokens
    for layer, head in np.ndindex(layers, heads):
        expected = np.hstack(np.split(atlas.points["raw"][layer, head], 2))
        np.testing.assert_allclose(found[layer + 1, head + 1], expected, atol=1e-5)
    sentences = [
        row
        for path in sorted(out.glob("sentences-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]
    assert [row["text"] for row in sentences] == list(atlas.sentences)
    assert [row["label"] for row in sentences] == list(LABELS)


def test_the_sample_is_an_atlas_of_whole_sentences_with_the_figures_of_all(
    folder_of: FolderOf,
    model_of: ModelOf,
    corpus: Path,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.atlas.engine.sample.SAMPLE_TOKENS", 100)
    assert atlas_build.main(command(folder_of("bert"), corpus, out)) == 0
    atlas, sample = in_memory(model_of, "bert"), read_atlas(out / "sample.atlas.zip")
    assert 50 < len(sample.tokens) <= 100
    by_text = {text: place for place, text in enumerate(atlas.sentences)}
    for place, text in enumerate(sample.sentences):
        ours, theirs = sample.tokens.of_sentence(place), atlas.tokens.of_sentence(by_text[text])
        assert len(ours) == len(theirs)
        for shift in ((0, 0), (len(sample.tokens), len(atlas.tokens))):
            np.testing.assert_allclose(
                sample.points["normalized"][:, :, ours + shift[0]],
                atlas.points["normalized"][:, :, theirs + shift[1]],
                atol=1e-5,
            )
    np.testing.assert_allclose(sample.c, atlas.c, rtol=1e-7)
    assert sample.measured.tokens == atlas.measured.tokens


@pytest.mark.nightly
def test_killed_while_the_folder_is_written_and_resumed(
    folder_of: FolderOf, corpus: Path, out: Path, tmp_path: Path
) -> None:
    """Nothing has the name of the atlas before it is whole, and all bytes are those of one run."""
    given = command(folder_of("bert"), corpus, out)
    if not (child := os.fork()):
        module: Any = output
        write = module.write_part

        def then_die(*arguments: object) -> None:
            write(*arguments)
            os.kill(os.getpid(), signal.SIGKILL)

        module.write_part = then_die
        atlas_build.main(given)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not out.exists()
    assert atlas_build.main(given) == 0
    other = tmp_path / "other.atlas"
    assert atlas_build.main(command(folder_of("bert"), corpus, other)) == 0
    names = sorted(path.name for path in other.iterdir())
    assert sorted(path.name for path in out.iterdir()) == names
    for name in names:
        assert (out / name).read_bytes() == (other / name).read_bytes(), name
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [corpus.name, out.name, other.name]
    )


def test_a_full_disk_leaves_the_parts_and_no_atlas(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = command(folder_of("bert"), corpus, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "write_part", failing(OSError(28, "No space left")))
        assert atlas_build.main(given) == 2
    assert "The disk is full" in last_line(capsys)
    assert not out.exists()
    assert atlas_build.main(given) == 0
    assert (out / "atlas.json").exists()


@pytest.mark.slow
def test_an_atlas_is_replaced_by_restart_and_nothing_else_is(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = command(folder_of("bert"), corpus, out)
    assert atlas_build.main(given) == 0
    before = (out / "atlas.json").stat().st_ino
    assert atlas_build.main(given) == 2
    assert "exists already" in last_line(capsys)
    assert atlas_build.main([*given, "--restart"]) == 0
    assert (out / "atlas.json").stat().st_ino != before
    capsys.readouterr()
    for name in (".env", "thesis.txt", "points-of-view.md", "atlas.notes", "sample.txt"):
        (out / name).write_text("mine")
        assert atlas_build.main([*given, "--restart"]) == 2
        assert f"something other than an atlas ({name})" in last_line(capsys)
        assert (out / name).read_text() == "mine"
        (out / name).unlink()
    assert (out / "atlas.json").exists()


def test_too_many_rows_for_a_file_are_told_before_anything_is_run(
    folder_of: FolderOf,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("core.atlas.command_line.checks.MAX_ROWS", 1000)
    out = tmp_path / "reviews.atlas.zip"
    assert atlas_build.main(command(folder_of("bert"), corpus, out)) == 2
    told = last_line(capsys)
    assert "too many for one file" in told
    assert "--out reviews.atlas," in told
    assert not partial(out).exists()


def test_half_precision_keeps_the_picture(
    folder_of: FolderOf, model_of: ModelOf, corpus: Path, out: Path
) -> None:
    assert atlas_build.main(command(folder_of("bert"), corpus, out, "--half")) == 0
    atlas = in_memory(model_of, "bert")
    table = pq.read_table(min(out.glob("points-*.parquet")))
    first = [table.column(f"query_raw_{axis}").to_numpy()[: len(table)] for axis in "xyz"]
    tokens = pq.read_metadata(min(out.glob("tokens-*.parquet"))).num_rows
    found, expected = np.array(first)[:, :tokens].T, atlas.points["raw"][0, 0, :tokens]
    scale = float(np.abs(atlas.points["raw"][0, 0]).max())
    np.testing.assert_allclose(found, expected, atol=4e-3 * scale)
    assert np.abs(found - expected).max() > 1e-6 * scale  # it is not single precision


def test_parts_of_another_precision_are_another_run(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = command(folder_of("bert"), corpus, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "write_part", failing(OSError(28, "No space left")))
        assert atlas_build.main(given) == 2
    capsys.readouterr()
    assert atlas_build.main([*given, "--half"]) == 2
    assert "vectors was 'float32' and is 'float16'" in last_line(capsys)
