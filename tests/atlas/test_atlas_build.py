"""The command line: the same atlas as in memory, the same bytes after Ctrl-C, one-line errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from core import atlas_build
from core.atlas import build_atlas, open_large
from core.atlas.command_line.output import locked
from core.atlas.command_line.plan import plan_corpus
from core.atlas.command_line.terminal import BuildError
from core.atlas.data import ProjectedPart
from core.atlas.engine.folder import FolderStore
from core.atlas.saved import ATLAS
from core.corpus.decoding import MAX_BYTES
from core.corpus.files import open_corpus
from core.model import load, trace_by_length, trace_text
from core.records import read_record
from tests.atlas.files import as_stored, assert_same
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build
from tests.model.test_refusal import failing
from tests.server import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.atlas import Atlas
    from core.atlas.engine.shard import Shard
    from tests.conftest import FolderOf, ModelOf

# Batches of a sentence or two in parts of a few batches; lengths differ, so the order does too.
CUT = ["--batch-tokens", "60", "--part-tokens", "90"]
TEXTS = (*SENTENCES, "a b c d e f g", *SENTENCES[:2], "Where?")
LABELS = tuple("good" if len(text) % 2 else "bad" for text in TEXTS)
LINES = [f"Line {n} has {'many ' * (n % 7)}words, naïve ones too." for n in range(300)]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a power cut needs fsync."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.jsonl"
    rows = [{"text": t, "mark": m} for t, m in zip(TEXTS, LABELS, strict=True)]
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "atlas.atlas"


@pytest.fixture
def given(folder_of: FolderOf, corpus: Path, out: Path) -> list[str]:
    """The command for the tiny BERT."""
    return command(folder_of("bert"), corpus, out)


def command(model: object, corpus: Path, out: Path, *more: str) -> list[str]:
    given = ["--model", str(model), "--corpus", str(corpus), "--out", str(out)]
    return [*given, *CUT, "--label-column", "mark", *more]


def partial(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def assert_same_file(found: Atlas, made: Atlas) -> None:
    """Exact but for sums that are added in another order."""
    assert_same(found, replace(as_stored(made), settings=found.settings), tolerance=1e-5)


def in_memory(model_of: ModelOf, name: str) -> Atlas:
    return build_atlas(trace_by_length(model_of(name), TEXTS, batch_tokens=60), TEXTS, LABELS)


def test_layers_of_a_hybrid_keep_their_numbers_from_part_to_part(
    corpus: Path, out: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "hybrid"
    build("lfm2", folder)  # of its four layers, every second attends
    assert atlas_build.main(command(folder, corpus, out)) == 0
    atlas = open_large(out).sample
    assert (atlas.layer_labels, atlas.depth) == ((2, 4), 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "modernbert"])
def test_it_is_the_atlas_that_is_built_in_memory(
    name: str, folder_of: FolderOf, model_of: ModelOf, corpus: Path, out: Path
) -> None:
    """Also with keys that heads share (llama), and windows that slide (modernbert)."""
    assert atlas_build.main(command(folder_of(name), corpus, out)) == 0
    found = open_large(out).sample
    assert_same_file(found, in_memory(model_of, name))
    assert found.settings == {"tokens_cut": 0, "corpus": "reviews.jsonl", "sentences_left_out": 0}
    check_parts(out, found)
    assert {path.name for path in out.parent.iterdir()} == {out.name, corpus.name}


def check_parts(out: Path, atlas: Atlas) -> None:
    """Points and texts of the parts are those of the sample, which is of all tokens here."""
    parts = [read_record(ProjectedPart, path) for path in sorted(out.glob("points-*.safetensors"))]
    assert len(parts) > 2
    sizes = [len(part.sentence) for part in parts]
    assert sum(sizes) == len(atlas.tokens)
    for stage, points in atlas.points.items():
        queries, keys = np.split(points, 2, axis=2)
        for part, end in zip(parts, np.cumsum(sizes), strict=True):
            own = slice(end - len(part.sentence), end)
            expected = np.concatenate([queries[:, :, own], keys[:, :, own]], axis=2)
            np.testing.assert_array_equal(part.points[stage], expected)
    sentences = pd.read_parquet(out / "sentences.parquet")
    assert tuple(sentences["text"]) == atlas.sentences
    assert tuple(sentences["label"]) == LABELS


def test_a_budget_takes_a_sample_and_says_how_many_are_left_out(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert atlas_build.main(command(folder_of("gpt2"), corpus, out, "--tokens", "100")) == 0
    found = open_large(out).sample
    assert 50 < len(found.tokens) <= 100
    left_out = len(TEXTS) - len(found.sentences)
    assert found.settings["sentences_left_out"] == left_out > 0
    assert f"a random sample of {len(TEXTS)}" in capsys.readouterr().err
    marks = dict(zip(TEXTS, LABELS, strict=True))
    assert found.labels == tuple(marks[text] for text in found.sentences)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def interrupted(patch: pytest.MonkeyPatch, at: int) -> None:
    """Ctrl-C while the part with this number is written."""
    real = FolderStore.put

    def write(store: FolderStore, index: int, part: Shard | None) -> None:
        if index == at:
            raise KeyboardInterrupt
        real(store, index, part)

    patch.setattr(FolderStore, "put", write)


def test_after_ctrl_c_the_same_command_goes_on_and_writes_the_bytes_of_a_single_run(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped in a part, then in a table of the atlas's folder."""
    whole = out.with_name("whole.atlas")
    assert atlas_build.main(command(folder_of("bert"), corpus, whole)) == 0
    given = command(folder_of("bert"), corpus, out)
    with pytest.MonkeyPatch.context() as patch:
        interrupted(patch, 2)
        assert atlas_build.main(given) == 130
    assert "the same command resumes" in capsys.readouterr().err
    with pytest.MonkeyPatch.context() as patch:
        interrupted(patch, 1)  # which is not written again
        patch.setattr("core.atlas.command_line.output.write_record", failing(KeyboardInterrupt()))
        assert atlas_build.main(given) == 130
    assert "Resuming after 2 parts" in capsys.readouterr().err
    assert atlas_build.main(given) == 0
    assert contents(out) == contents(whole)
    assert {path.name for path in out.parent.iterdir()} == {whole.name, out.name, corpus.name}


@pytest.mark.slow
def test_parts_of_another_run_are_refused_until_they_are_dropped(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        interrupted(patch, 1)
        atlas_build.main(command(folder_of("bert"), corpus, out))
    capsys.readouterr()
    for other, differing in (
        (command(folder_of("gpt2"), corpus, out), "model"),
        (command(folder_of("bert"), corpus, out, "--tokens", "150"), "corpus"),
        (command(folder_of("bert"), corpus, out, "--half"), "vectors was 'float32'"),
        (command(folder_of("bert"), corpus, out, "--batch-tokens", "70"), "batch tokens was '60'"),
    ):
        assert atlas_build.main(other) == 2
        error = last_line(capsys)
        assert f"parts of another run: {differing}" in error
        assert "--restart" in error
    assert atlas_build.main([*other, "--restart"]) == 0
    assert len(open_large(out).sample.sentences) == len(TEXTS)


def test_a_model_that_changed_under_its_name_is_another_run(
    given: list[str], folder_of: FolderOf, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        interrupted(patch, 1)
        atlas_build.main(given)
    changed = load(str(folder_of("bert")))
    next(iter(changed.network.parameters()))[0, 0] += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.atlas_build.load", lambda _: changed)
        assert atlas_build.main(given) == 2
    assert "another run: weights differ" in last_line(capsys)


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The error, which is one line and the last."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert [line.startswith("error: ") for line in lines].count(True) == 1
    assert lines[-1].startswith("error: ")
    return lines[-1]


def test_what_is_not_there_or_no_corpus_is_one_line(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = tmp_path / "picture.txt"
    binary.write_bytes(bytes(range(256)) * 50)
    taken, file = tmp_path / "taken.atlas", tmp_path / "file.atlas"
    taken.mkdir()
    file.touch()
    blank = tmp_path / "blank.txt"
    blank.write_text("\n" * (MAX_BYTES + 1))
    empty = tmp_path / "empty"
    empty.mkdir()
    here = tmp_path / "atlas.atlas"
    for given, message in (
        (command("bundled/minilm", tmp_path / "nowhere.txt", here), "nowhere.txt"),
        (command("bundled/minilm", empty, here), "no file of texts"),
        (command("bundled/minilm", blank, here), "has no text"),
        (command("bundled/minilm", binary, here), "picture.txt"),
        (command("bundled/minilm", corpus, here, "--text-column", "x"), "x"),
        (command("bundled/minilm", corpus, tmp_path), "folder"),
        (command("bundled/minilm", corpus, tmp_path / "no" / "atlas"), "folder"),
        (command("bundled/minilm", corpus, corpus), "whose name ends with .atlas"),
        (command("bundled/minilm", corpus, taken), "exists already"),
        (command("bundled/minilm", corpus, file), "something else has this name"),
        (command("./nowhere", corpus, here), "nowhere"),
    ):
        assert atlas_build.main(given) == 2
        assert message in last_line(capsys)
    assert not here.exists()
    assert not partial(here).exists()


def test_a_corpus_of_special_tokens_alone_is_refused(
    folder_of: FolderOf, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = out.with_name("lines.txt")
    corpus.write_text("[SEP]\n[CLS]\n", "utf-8")
    given = ["--model", str(folder_of("bert")), "--corpus", str(corpus), "--out", str(out)]
    assert atlas_build.main(given) == 2
    assert "no text" in last_line(capsys).casefold()
    assert not out.exists()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "where", ["engine.folder.write_record", "command_line.output.write_record"]
)
def test_a_full_disk_is_reported_and_what_is_finished_stays(
    where: str, given: list[str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"core.atlas.{where}.write_record", failing(OSError(28, "No space left")))
        assert atlas_build.main(given) == 2
    assert "The disk is full" in last_line(capsys)
    assert not out.exists()
    assert atlas_build.main(given) == 0


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(27, "File too large"), "larger than this disk takes"),
        (OSError(122, "Disk quota exceeded"), "The disk is full"),
        (OSError(5, "Input/output error"), "atlas.atlas cannot be written: Input/output error"),
        (OSError("9 requested and 0 written"), "cannot be written: 9 requested"),
    ],
)
def test_what_a_disk_refuses_is_told_with_its_reason(error: OSError, message: str) -> None:
    assert message in atlas_build._describe(error, Path("atlas.atlas"))


def test_too_small_a_disk_is_told_before_anything_is_run(
    given: list[str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _: Namespace(free=1000))
        assert atlas_build.main(given) == 2
    assert "free" in last_line(capsys)
    assert not partial(out).exists()


def test_a_second_command_for_the_same_atlas_is_refused_while_the_first_runs(
    given: list[str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(partial(out)):
        assert atlas_build.main(given) == 2
    assert "Another command is writing" in last_line(capsys)
    assert not out.exists()
    assert atlas_build.main(given) == 0


def test_what_another_command_finished_meanwhile_is_not_replaced(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends when this one has looked and found nothing, before this one has the lock."""
    out, images = tmp_path / "made.atlas", tmp_path / "images"
    images.mkdir()
    (images / "a.png").touch()

    @contextmanager
    def locked_late(folder: Path) -> Iterator[None]:
        out.mkdir()
        with locked(folder):
            yield

    of_images = ["--model", "m", "--images", str(images), "--out", str(out)]
    for given in (command("bundled/minilm", corpus, out), of_images):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(atlas_build, "locked", locked_late)
            assert atlas_build.main(given) == 2
        assert "exists already" in last_line(capsys)
        out.rmdir()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_corpus_without_an_end_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, images = tmp_path / "texts", tmp_path / "images"
    for folder, name in ((texts, "pipe.txt"), (images, "pipe.png")):
        folder.mkdir()
        os.mkfifo(folder / name)
    link = tmp_path / "link.txt"
    link.symlink_to("/dev/zero")
    out = str(tmp_path / "atlas.atlas")
    for source, path in (
        ("--corpus", Path("/dev/zero")),
        ("--corpus", link),
        ("--corpus", texts / "pipe.txt"),
        ("--corpus", texts),
        ("--images", images),
    ):
        assert atlas_build.main(["--model", "m", source, str(path), "--out", out]) == 2
        assert "is neither a regular file" in last_line(capsys)


@pytest.mark.slow
def test_a_folder_of_something_else_is_never_removed(
    given: list[str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partial(out).mkdir()
    for name in (".env", "thesis.txt", "part-of-thesis.txt", "run.json.bak"):
        precious = partial(out) / name
        precious.write_text("mine")
        for more in ([], ["--restart"]):
            assert atlas_build.main([*given, *more]) == 2
            assert "something other than parts of an atlas" in last_line(capsys)
        assert precious.read_text() == "mine"
        precious.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("manifest", ["mine", "[]", '{"format": "A4"}'])
def test_a_folder_whose_files_only_have_our_names_is_never_removed(
    manifest: str,
    folder_of: FolderOf,
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where parts are kept, and where the atlas is to be."""
    out = tmp_path / "mine.atlas"
    given = command(folder_of("bert"), corpus, out, "--restart")
    for folder, part, said in (
        (partial(out), "part-00000.safetensors", "run.json"),
        (out, "points-00000.safetensors", ATLAS),
    ):
        folder.mkdir()
        (folder / said).write_text(manifest)
        (folder / part).write_text("mine")
        assert atlas_build.main(given) == 2
        assert f"no {said} of one: move it away first" in last_line(capsys)
        assert (folder / part).read_text() == "mine"
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def test_the_sample_is_an_atlas_of_whole_sentences_with_the_figures_of_all(
    folder_of: FolderOf,
    model_of: ModelOf,
    corpus: Path,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.atlas.engine.sums.SAMPLE_TOKENS", 100)
    assert atlas_build.main(command(folder_of("bert"), corpus, out)) == 0
    atlas, sample = in_memory(model_of, "bert"), open_large(out).sample
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


@pytest.mark.slow
def test_an_atlas_is_replaced_by_restart_and_nothing_else_is(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = command(folder_of("bert"), corpus, out)
    assert atlas_build.main(given) == 0
    before = (out / ATLAS).stat().st_ino
    assert atlas_build.main(given) == 2
    assert "exists already" in last_line(capsys)
    assert atlas_build.main([*given, "--restart"]) == 0
    assert (out / ATLAS).stat().st_ino != before
    capsys.readouterr()
    for name in (".env", "thesis.txt", "points-of-view.md", "atlas.notes", "sample.txt"):
        (out / name).write_text("mine")
        assert atlas_build.main([*given, "--restart"]) == 2
        assert f"something other than an atlas ({name})" in last_line(capsys)
        assert (out / name).read_text() == "mine"
        (out / name).unlink()
    assert (out / ATLAS).exists()


def test_wrong_arguments_exit_as_command_lines_do(capsys: pytest.CaptureFixture[str]) -> None:
    for given in ([], ["--model", "m", "--corpus", "c", "--out", "o", "--tokens", "0"]):
        with pytest.raises(SystemExit) as stopped:
            atlas_build.main(given)
        assert stopped.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_a_plan_counts_tokens_and_a_budget_draws_what_a_larger_one_draws_too(
    tmp_path: Path, model_of: ModelOf
) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(LINES), "utf-8")
    model, lines = model_of("bert"), open_corpus(str(path), None, None)
    whole, large, small = (plan_corpus(model, lines, most, print) for most in (None, 1000, 200))
    lengths = [len(trace_text(model, text).tokens) for text in LINES[:20]]
    assert whole.lengths[:20].tolist() == lengths
    assert whole.corpus_size == small.corpus_size == len(whole.numbers) == len(LINES)
    assert not whole.labelled
    assert 100 < small.tokens <= 200
    assert 900 < large.tokens <= 1000
    assert set(small.numbers.tolist()) < set(large.numbers.tolist())
    assert small.digest == large.digest == whole.digest
    assert np.ptp(small.numbers) > 100  # from all over the corpus
    for plan in (whole, small):
        rows = [(row.number, row.text, row.tokens) for row in plan.rows(lines)]
        counted = zip(plan.numbers, plan.lengths, strict=True)
        assert rows == [(number, LINES[number], tokens) for number, tokens in counted]


def test_repeated_texts_are_told_and_another_label_or_text_is_another_digest(
    tmp_path: Path, model_of: ModelOf
) -> None:
    path, said, digests = tmp_path / "rows.jsonl", list[str](), set[str]()
    path.write_text('{"text": "It rains.", "a": 1, "b": 2}\n' * 3)
    for label in (None, "a", "b", "a"):
        corpus = open_corpus(str(path), "text", label)
        plan = plan_corpus(model_of("bert"), corpus, None, said.append)
        digests.add(plan.digest)
        assert plan.corpus_size == 3
    assert len(digests) == 3
    assert said == ["2 texts repeat earlier ones, and are kept."] * 4


HOLD = """
import sys
from pathlib import Path
from core.atlas.command_line.output import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_done_or_dead(tmp_path: Path) -> None:
    folder = tmp_path / "atlas.partial"
    for kill in (False, True):
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as other:
            assert other.stdout is not None
            assert other.stdin is not None
            assert other.stdout.readline() == b"held\n"
            with pytest.raises(BuildError, match="Another command is writing"), locked(folder):
                pass
            if kill:
                other.kill()
            else:
                other.stdin.close()
            other.wait(30)
        with locked(folder):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_only_has_the_name_of_a_lock_stays(tmp_path: Path) -> None:
    folder, own = tmp_path / "atlas.partial", tmp_path / "atlas.partial.lock"
    own.write_text("mine")
    with pytest.raises(BuildError, match="is not a lock of this command"), locked(folder):
        pass
    assert own.read_text() == "mine"
    link = tmp_path / "other.partial.lock"
    link.symlink_to(own)
    with pytest.raises(BuildError, match="move it away"), locked(tmp_path / "other.partial"):
        pass
    assert link.is_symlink()
