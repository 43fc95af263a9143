"""The command line: the same atlas as a page's, the same bytes after Ctrl-C, one-line errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import atlas_build
from core.atlas import Atlas, build_atlas, open_large
from core.atlas.command_line.output import locked, replaced
from core.atlas.command_line.plan import plan_corpus
from core.atlas.command_line.terminal import BuildError
from core.atlas.data import ProjectedPart
from core.atlas.engine.folder import FolderStore, ForeignFileError, open_folder, remove_folder
from core.atlas.engine.shard import Shard
from core.atlas.saved import ATLAS
from core.corpus.decoding import MAX_BYTES
from core.corpus.files import open_corpus
from core.model import LoadedModel, load, trace_by_length, trace_text
from core.records import read_record
from tests.atlas.files import as_stored, assert_same, sample_of, save_atlas
from tests.conftest import FolderOf, ModelOf
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build
from tests.model.test_refusal import failing
from tests.server import ROOT

Refusal = Callable[[list[str]], str]

# Batches of a sentence or two in parts of a few batches; lengths differ, so the order does too.
CUT = ["--batch-tokens", "60", "--part-tokens", "90"]
TEXTS = (*SENTENCES, "a b c d e f g", *(f"Now: {text}" for text in SENTENCES[:2]), "Where?")
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


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Refusal:
    """Gives a command that fails; its error, which is one line and the last."""

    def run(given: list[str]) -> str:
        capsys.readouterr()
        assert atlas_build.main(given) == 2
        *before, last = capsys.readouterr().err.strip().splitlines()
        assert [line for line in (*before, last) if line.startswith("error: ")] == [last]
        return last

    return run


def command(model: object, corpus: Path, out: Path, *more: str) -> list[str]:
    given = ["--model", str(model), "--corpus", str(corpus), "--out", str(out)]
    return [*given, *CUT, "--label-column", "mark", *more]


def partial(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_memory(model: LoadedModel) -> Atlas:
    """As a page makes it, with other batches and parts."""
    return build_atlas(trace_by_length(model, TEXTS, batch_tokens=512), TEXTS, LABELS)


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
def test_it_is_the_atlas_that_a_page_makes(
    name: str, folder_of: FolderOf, model_of: ModelOf, corpus: Path, out: Path
) -> None:
    """Also with keys that heads share (llama), and windows that slide (modernbert)."""
    assert atlas_build.main(command(folder_of(name), corpus, out)) == 0
    assert {path.name for path in out.parent.iterdir()} == {out.name, corpus.name}
    found, made = open_large(out).sample, in_memory(model_of(name))
    assert found.settings == {"tokens_cut": 0, "corpus": "reviews.jsonl", "sentences_left_out": 0}
    # Exact but for sums that are added in another order.
    assert_same(found, replace(as_stored(made), settings=found.settings), tolerance=1e-5)
    page = save_atlas(made, out.with_name("page.atlas"))
    for table in ("tokens.parquet", "sentences.parquet"):
        assert (page / table).read_bytes() == (out / table).read_bytes()
    check_parts(out, found)


def check_parts(out: Path, atlas: Atlas) -> None:
    """Points and texts of the parts are those of the sample, which is of all tokens here."""
    parts = [read_record(ProjectedPart, path) for path in sorted(out.glob("points-*.safetensors"))]
    assert len(parts) > 2
    for stage, points in atlas.points.items():
        halves = zip(*(np.split(part.points[stage], 2, axis=2) for part in parts), strict=True)
        both = np.concatenate([np.concatenate(half, axis=2) for half in halves], axis=2)
        np.testing.assert_array_equal(both, points)
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


@contextmanager
def interrupted(at: int) -> Iterator[pytest.MonkeyPatch]:
    """Ctrl-C while the part with this number is written."""
    real = FolderStore.put

    def write(store: FolderStore, index: int, part: Shard | None) -> None:
        if index == at:
            raise KeyboardInterrupt
        real(store, index, part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FolderStore, "put", write)
        yield patch


def test_after_ctrl_c_the_same_command_goes_on_and_writes_the_bytes_of_a_single_run(
    folder_of: FolderOf, corpus: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped in a part, then in a table of the atlas's folder."""
    whole = out.with_name("whole.atlas")
    assert atlas_build.main(command(folder_of("bert"), corpus, whole)) == 0
    given = command(folder_of("bert"), corpus, out)
    with interrupted(2):
        assert atlas_build.main(given) == 130
    assert "the same command resumes" in capsys.readouterr().err
    with interrupted(1) as patch:  # which is not written again
        patch.setattr("core.atlas.command_line.output.write_record", failing(KeyboardInterrupt()))
        assert atlas_build.main(given) == 130
    assert "Resuming after 2 parts" in capsys.readouterr().err
    assert atlas_build.main(given) == 0
    assert contents(out) == contents(whole)
    assert {path.name for path in out.parent.iterdir()} == {whole.name, out.name, corpus.name}


@pytest.mark.slow
def test_parts_of_another_run_are_refused_until_they_are_dropped(
    given: list[str], folder_of: FolderOf, corpus: Path, out: Path, refusal: Refusal
) -> None:
    with interrupted(1):
        atlas_build.main(given)
    changed = load(str(folder_of("bert")))
    next(iter(changed.network.parameters()))[0, 0] += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.atlas_build.load", lambda _: changed)
        assert "another run: weights differ" in refusal(given)
    for other, differing in (
        (command(folder_of("gpt2"), corpus, out), "model"),
        ([*given, "--tokens", "150"], "corpus"),
        ([*given, "--half"], "vectors was 'float32'"),
        ([*given, "--batch-tokens", "70"], "batch tokens was '60'"),
    ):
        error = refusal(other)
        assert f"parts of another run: {differing}" in error
        assert "--restart" in error
    assert atlas_build.main([*other, "--restart"]) == 0
    assert len(open_large(out).sample.sentences) == len(TEXTS)


def test_what_is_not_there_or_no_corpus_is_one_line(
    folder_of: FolderOf, corpus: Path, tmp_path: Path, refusal: Refusal
) -> None:
    """Nor what has no end, or no token of its own."""
    binary, blank, special = (tmp_path / f"{name}.txt" for name in ("picture", "blank", "special"))
    binary.write_bytes(bytes(range(256)) * 50)
    blank.write_text("\n" * (MAX_BYTES + 1))
    special.write_text("[SEP]\n[CLS]\n", "utf-8")
    taken, empty, pipes = (tmp_path / name for name in ("taken.atlas", "empty", "pipes"))
    for folder in (taken, empty, pipes):
        folder.mkdir()
    for name in ("pipe.txt", "pipe.png"):
        os.mkfifo(pipes / name)
    file, link = tmp_path / "file.atlas", tmp_path / "link.txt"
    file.touch()
    link.symlink_to("/dev/zero")
    here, endless = tmp_path / "atlas.atlas", "is neither a regular file"
    images = ["--model", "m", "--images", str(pipes), "--out", str(here)]
    of_special = ["--model", str(folder_of("bert")), "--corpus", str(special), "--out", str(here)]
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
        (command("m", Path("/dev/zero"), here), endless),
        (command("m", link, here), endless),
        (command("m", pipes / "pipe.txt", here), endless),
        (command("m", pipes, here), endless),
        (images, endless),
        (of_special, "No text"),
    ):
        assert message in refusal(given)
    assert not here.exists()
    for wrong in ([], [*of_special, "--tokens", "0"]):
        with pytest.raises(SystemExit, match="2"):
            atlas_build.main(wrong)


@pytest.mark.parametrize("number", [5, 13])  # in the second part, and in the atlas's folder
def test_a_full_disk_is_reported_and_what_is_finished_stays(
    number: int,
    given: list[str],
    out: Path,
    refusal: Refusal,
    capsys: pytest.CaptureFixture[str],
) -> None:
    handles: list[int] = []

    def full(handle: int) -> None:
        handles.append(handle)
        if len(handles) == number:
            raise OSError(28, "No space left")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "The disk is full" in refusal(given)
    assert not out.exists()
    assert atlas_build.main(given) == 0
    assert "Resuming after" in capsys.readouterr().err


def test_what_a_disk_refuses_is_told_with_its_reason(
    given: list[str], refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, message in (
        (OSError(27, "File too large"), "larger than this disk takes"),
        (OSError(122, "Disk quota exceeded"), "The disk is full"),
        (OSError(5, "Input/output error"), "atlas.atlas cannot be written: Input/output error"),
        (OSError("9 requested and 0 written"), "cannot be written: 9 requested"),
    ):
        monkeypatch.setattr(atlas_build, "build", failing(error))
        assert message in refusal(given)


def test_too_small_a_disk_or_another_command_is_told_before_anything_is_run(
    given: list[str], out: Path, refusal: Refusal
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _: Namespace(free=1000))
        assert "free" in refusal(given)
    assert not partial(out).exists()
    with locked(partial(out)):
        assert "Another command is writing" in refusal(given)
    assert not out.exists()
    assert atlas_build.main(given) == 0


def test_what_another_command_finished_meanwhile_is_not_replaced(
    corpus: Path, tmp_path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
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

    monkeypatch.setattr(atlas_build, "locked", locked_late)
    of_images = ["--model", "m", "--images", str(images), "--out", str(out)]
    for given in (command("bundled/minilm", corpus, out), of_images):
        assert "exists already" in refusal(given)
        out.rmdir()


def test_an_atlas_is_replaced_by_restart_alone(
    given: list[str], out: Path, refusal: Refusal
) -> None:
    """A folder of something else is not."""
    assert atlas_build.main(given) == 0
    before = (out / ATLAS).stat().st_ino
    assert "exists already" in refusal(given)
    assert atlas_build.main([*given, "--restart"]) == 0
    assert (out / ATLAS).stat().st_ino != before
    for folder in (out, partial(out)):
        folder.mkdir(exist_ok=True)
        (folder / "thesis.txt").write_text("mine")
        assert "something other than" in refusal([*given, "--restart"])
        assert (folder / "thesis.txt").read_text() == "mine"
        (folder / "thesis.txt").unlink()
    assert (out / ATLAS).exists()


def begin(folder: Path) -> None:
    open_folder(folder, {"model": "a"})


def replace_atlas(folder: Path) -> None:
    with replaced(folder):
        pass


@pytest.mark.parametrize("change", [begin, remove_folder, replace_atlas])
def test_a_folder_of_something_else_is_never_removed(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "mine.atlas"
    folder.mkdir()
    foreign = (".env", "part-of-thesis.txt", "run.json.bak", "points-of-view.md", "atlas.notes")
    for name in foreign:
        (folder / name).write_text("mine")
        with pytest.raises(ForeignFileError, match=f"something other .*{name}"):
            change(folder)
        assert contents(folder) == {name: b"mine"}
        (folder / name).unlink()
    if change is begin:
        return
    names = ("run.json", "part-00000.safetensors")
    for manifest in ("mine", "[]", '{"format": "A4"}'):
        said, part = names if change is remove_folder else (ATLAS, "points-00000.safetensors")
        (folder / said).write_text(manifest)
        (folder / part).write_text("mine")
        with pytest.raises(ForeignFileError, match=f"no {said} of one: move it away first"):
            change(folder)
        assert contents(folder) == {said: manifest.encode(), part: b"mine"}


def test_the_sample_is_an_atlas_of_whole_sentences_with_the_figures_of_all(
    given: list[str], model_of: ModelOf, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.atlas.engine.sums.SAMPLE_TOKENS", 100)
    assert atlas_build.main(given) == 0
    atlas, sample = in_memory(model_of("bert")), open_large(out).sample
    assert 50 < len(sample.tokens) <= 100
    assert sample.corpus_size == (len(atlas.tokens), len(TEXTS))
    chosen = [place for place, text in enumerate(atlas.sentences) if text in sample.sentences]
    expected = replace(as_stored(sample_of(atlas, chosen)), settings=sample.settings)
    assert_same(sample, expected, tolerance=1e-5)


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
    folder, command = tmp_path / "atlas.partial", [sys.executable, "-c", HOLD]
    for kill in (False, True):
        with subprocess.Popen(
            [*command, str(folder)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
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


def test_a_file_or_link_that_only_has_the_name_of_a_lock_stays(tmp_path: Path) -> None:
    own, link = tmp_path / "atlas.partial.lock", tmp_path / "other.partial.lock"
    own.write_text("mine")
    (tmp_path / "empty").touch()  # as a lock is
    link.symlink_to(tmp_path / "empty")
    for path in (own, link):
        with (
            pytest.raises(BuildError, match=r"is not a lock.* move it"),
            locked(path.with_suffix("")),
        ):
            pass
    assert (own.read_text(), link.is_symlink()) == ("mine", True)
