"""Build an atlas on the command line, from a corpus that is too large for a page.

    python -m core.atlas_build --model bundled/minilm --corpus reviews.csv --out reviews.atlas
    python -m core.atlas_build --model dinov2-small --images photographs --out photographs.atlas

Vectors are written to disk in parts, so memory is bounded by one part and a few heads, and a run
that was stopped or killed resumes when the same command is given again.
"""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from core.atlas.command_line.images import atlas_of_images, files_of
from core.atlas.command_line.output import (
    check_disk,
    check_out,
    draw_here,
    locked,
    parts_folder,
    replaced,
    write_folder,
)
from core.atlas.command_line.plan import Plan, fingerprint, part_tokens_of, plan_corpus, tracer_of
from core.atlas.command_line.terminal import BuildError, count_of, parser, progress, say, size_of
from core.atlas.distributed.session import ClusterError, Workers, joined
from core.atlas.distributed.workers import Work, draw_parts, trace_chunks
from core.atlas.engine.build import chunks_of, walk
from core.atlas.engine.folder import (
    Dtype,
    FolderStore,
    ForeignFileError,
    ShardsError,
    open_folder,
    remove_folder,
)
from core.atlas.saved import write_atlas
from core.corpus.decoding import CorpusFileError
from core.corpus.files import Corpus, open_corpus
from core.model import LoadedModel, ModelError, load
from core.records import RecordError

STOPPED, FAILED = 130, 2  # exit codes
_TOLD = (
    BuildError,
    ClusterError,
    ForeignFileError,
    ModelError,
    CorpusFileError,
    RecordError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build an atlas as the arguments say; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        build(options)
    except KeyboardInterrupt:
        folder = parts_folder(options.out)
        hint = f" {folder} keeps what is finished; the same command resumes."
        say("\nStopped." + (hint if folder.exists() else ""))
        return STOPPED
    except ShardsError as error:
        return _fail(f"{error} Choose another --out to keep them, or drop them with --restart.")
    except _TOLD as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("There is not enough memory: try fewer --batch-tokens and --part-tokens.")
    except OSError as error:
        return _fail(_describe(error, options.out))
    return 0


def build(options: argparse.Namespace) -> None:
    """Read, load, plan, run whatever has not run yet, and write the atlas."""
    if options.images is not None:
        build_images(options)
        return
    with _cluster(options) as workers:
        build_texts(options, workers)


def build_texts(options: argparse.Namespace, workers: Workers | None) -> None:
    """The atlas of a corpus, built in parts by this process or by a cluster's."""
    out: Path = options.out
    corpus = open_corpus(options.corpus, options.text_column, options.label_column)
    if next(corpus.sentences(), None) is None:  # refused before a model is loaded
        raise BuildError(f"{options.corpus} has no text: choose a corpus, or a column, with text.")
    with _written_alone(options):
        say(f"Loading {options.model} …")
        model = load(options.model)
        plan = plan_corpus(model, corpus, options.tokens, say)
        if options.restart:
            remove_folder(parts_folder(out))
        _build_parts(model, corpus, plan, options, workers)


@contextmanager
def _written_alone(options: argparse.Namespace) -> Iterator[None]:
    """Keep other commands from writing the same atlas; refuse to overwrite anything."""
    check_out(options.out, restart=options.restart)
    with locked(parts_folder(options.out)):
        # Check again: another command may have finished it in between.
        check_out(options.out, restart=options.restart)
        yield


@contextmanager
def _cluster(options: argparse.Namespace) -> Iterator[Workers | None]:
    """The workers of the cluster asked for; it is left at the end of the block."""
    if options.ray is None:
        yield None
        return
    say(f"Joining Ray at {options.ray} …")
    with joined(options.ray, options.workers, options.worker_cores) as workers:
        say(f"{count_of(workers.count, 'worker')} will hold the model.")
        yield workers


def _build_parts(
    model: LoadedModel,
    corpus: Corpus,
    plan: Plan,
    options: argparse.Namespace,
    workers: Workers | None,
) -> None:
    out: Path = options.out
    folder = parts_folder(out)
    part_tokens = options.part_tokens or part_tokens_of(model)
    settings: dict[str, str | int] = {
        "corpus": corpus.path.name,
        "sentences_left_out": plan.corpus_size - plan.numbers.size,
    }
    dtype: Dtype = "float16" if options.half else "float32"
    run = {
        "vectors": dtype,
        "batch_tokens": options.batch_tokens,
        "part_tokens": part_tokens,
        "file": corpus.path.name,
    }
    check_disk(model, plan, folder, dtype)
    open_folder(folder, fingerprint(model, plan, **run))
    store = FolderStore(folder, dtype)
    chunks = chunks_of(plan.rows(corpus), part_tokens)
    if finished := len(store.indices):
        say(f"Resuming after {count_of(finished, 'part')}.")
    batch_tokens = options.batch_tokens
    work = Work(model.name, _source(options.model), folder.resolve(), batch_tokens, dtype)
    with progress(plan.tokens, "token") as bar:
        if workers is None:
            sums = walk(chunks, tracer_of(model, batch_tokens), store, bar.update)
        else:
            sums = trace_chunks(work, chunks, workers, bar.update)
    if sums is None:
        raise BuildError("No text in the corpus has a token of its own.")
    with progress(len(store.indices), "part") as bar:
        draw = draw_here if workers is None else draw_parts
        write_folder(work.store, sums, out, settings, bar.update, draw)
    remove_folder(folder)
    say(f"{out}: {sums.tokens:,} tokens, {model.layers * model.heads:,} heads, {_size_of(out)}.")


def _size_of(folder: Path) -> str:
    return size_of(sum(file.stat().st_size for file in folder.iterdir()))


def _source(model: str) -> str:
    """What a worker loads: its working directory may be a different one."""
    return str(Path(model).resolve()) if Path(model).is_dir() else model


def build_images(options: argparse.Namespace) -> None:
    """The atlas of a folder of images, made in memory."""
    out: Path = options.out
    files = files_of(options.images)
    with _written_alone(options):
        say(f"Loading {options.model} …")
        model = load(options.model, modality="image")
        say(f"Running {count_of(len(files), 'image')} …")
        atlas = atlas_of_images(model, files, say)
        settings = {**atlas.settings, "corpus": options.images.name}
        with replaced(out) as folder:
            write_atlas(folder, replace(atlas, settings=settings))
    say(
        f"{out}: {count_of(len(atlas.sentences), 'image')}, {len(atlas.tokens):,} tokens,"
        f" {model.layers * model.heads:,} heads, {_size_of(out)}."
    )


def _describe(error: OSError, out: Path) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return (
            f"The disk is full. {parts_folder(out)} keeps what is finished:"
            " make room, and give the same command again."
        )
    if error.errno == errno.EFBIG:
        return f"{out} is larger than this disk takes: write to another, or take fewer --tokens."
    file = f"{error.filename}: " if error.filename else f"{out} cannot be written: "
    return file + (error.strerror or str(error) or type(error).__name__)


def _fail(message: str) -> int:
    say("error: " + " ".join(message.split()))
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
