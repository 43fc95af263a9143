"""Build an atlas on the command line, from a corpus that is too large for a page.

    python -m core.atlas_build --model bundled/minilm --corpus reviews.csv --out reviews.atlas.zip
    python -m core.atlas_build --model dinov2-small --images photographs --out photographs.atlas.zip

Vectors are written to disk in parts, so memory is bounded by one part and a few heads, and a run
that was stopped or killed resumes when the same command is given again.
"""

from __future__ import annotations

import errno
import shutil
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.analysis.atlas.engine import (
    FolderStore,
    PartsError,
    VectorsError,
    open_folder,
    pieces_of,
    remove_folder,
    share_to_measure,
    walk,
)
from core.analysis.atlas.files import AtlasFileError, write_atlas
from core.analysis.corpus import CorpusFileError
from core.console.checks import BuildError, check_disk, check_out, check_rows, parts_folder
from core.console.cluster import ClusterError, Work, cluster_at
from core.console.corpus import open_corpus
from core.console.images import FolderError, atlas_of_images, files_of
from core.console.lock import LockedError, locked
from core.console.options import FILE, parser
from core.console.output import write_file, write_folder
from core.console.plan import fingerprint, part_tokens_of, plan_corpus
from core.console.tracing import traces_of
from core.console.words import count_of, progress, say, size_of
from core.model import ModelError, load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from core.analysis.atlas.engine.part_file import Dtype
    from core.console.cluster import Cluster, ClusterCorpus
    from core.console.corpus import Corpus
    from core.console.plan import Plan
    from core.model import LoadedModel

STOPPED, FAILED = 130, 2  # exit codes
_TOLD = (
    BuildError,
    ClusterError,
    FolderError,
    LockedError,
    ModelError,
    CorpusFileError,
    AtlasFileError,
    VectorsError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build an atlas as the command line asks; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        build(options)
    except KeyboardInterrupt:
        folder = parts_folder(options.out)
        hint = f" {folder} keeps what is finished; the same command resumes."
        say("\nStopped." + (hint if folder.exists() else ""))
        return STOPPED
    except PartsError as error:
        return _fail(f"{error} Choose another --out to keep them, or drop them with --restart.")
    except _TOLD as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("There is not enough memory: try fewer --batch-tokens and --part-tokens.")
    except OSError as error:
        return _fail(_describe(error, options.out))
    return 0


def build(options: argparse.Namespace) -> None:
    """Read, load, plan, run what has not run yet, and write the file."""
    if options.images is not None:
        build_images(options)
        return
    with _cluster(options) as cluster:
        build_texts(options, cluster)


def build_texts(options: argparse.Namespace, cluster: Cluster | None) -> None:
    """The atlas of a corpus, built in parts by this process or by a cluster."""
    out: Path = options.out
    columns = options.text_column, options.label_column
    corpus = (
        cluster.corpus(options.corpus, *columns)
        if cluster
        else open_corpus(Path(options.corpus), *columns)
    )
    if next(corpus.sentences(), None) is None:  # refused before a model is loaded
        raise BuildError(f"{options.corpus} has only blank lines: choose a corpus with text.")
    check_out(out, restart=options.restart)
    say(f"Loading {options.model} …")
    model = load(options.model)
    plan = plan_corpus(model, corpus, options.tokens, say)
    folder = parts_folder(out)
    with locked(folder):
        if options.restart:
            remove_folder(folder)
        _build_parts(model, corpus, plan, options, cluster)


@contextmanager
def _cluster(options: argparse.Namespace) -> Iterator[Cluster | None]:
    """The cluster that was asked for; it is left at the end of the block."""
    if options.ray is None:
        yield None
        return
    say(f"Joining Ray at {options.ray} …")
    with cluster_at(options.ray, options.workers, options.worker_cores) as cluster:
        say(f"{count_of(cluster.workers.count, 'worker')} will hold the model.")
        yield cluster


def _build_parts(
    model: LoadedModel,
    corpus: Corpus | ClusterCorpus,
    plan: Plan,
    options: argparse.Namespace,
    cluster: Cluster | None,
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
    check_rows(model, plan, out)
    check_disk(model, plan, folder, dtype)
    open_folder(folder, fingerprint(model, plan, **run))
    store = FolderStore(folder, dtype)
    pieces = pieces_of(plan.rows(corpus), part_tokens)
    if finished := len(store.indices):
        say(f"Resuming after {count_of(finished, 'part')}.")
    share, batch_tokens = share_to_measure(plan.tokens), options.batch_tokens
    work = Work(model.name, _source(options.model), folder.resolve(), batch_tokens, share, dtype)
    with progress(plan.tokens, "token") as bar:
        if cluster is None:
            sums = walk(pieces, traces_of(model, batch_tokens), store, bar.update, share)
        else:
            sums = cluster.trace(work, pieces, bar.update)
    if sums is None:
        raise BuildError("No text in the corpus has a token of its own.")
    heads = model.layers * model.heads
    as_file = out.name.endswith(FILE)
    steps = heads if as_file else 2 * len(store.indices)
    with progress(steps, "head" if as_file else "step") as bar:
        if as_file or cluster is None:
            (write_file if as_file else write_folder)(store, sums, out, settings, bar.update)
        else:
            cluster.write_folder(work, sums, out, settings, bar.update)
    shutil.rmtree(folder)
    files = [out] if as_file else list(out.iterdir())
    size = size_of(sum(file.stat().st_size for file in files))
    say(f"{out}: {sums.tokens:,} tokens, {heads:,} heads, {size}.")


def _source(model: str) -> str:
    """What a worker loads: its current folder may be another one."""
    return str(Path(model).resolve()) if Path(model).is_dir() else model


def build_images(options: argparse.Namespace) -> None:
    """The atlas of a folder of images, made in memory."""
    out: Path = options.out
    files = files_of(options.images)
    check_out(out, restart=options.restart)
    if not out.name.endswith(FILE):
        raise BuildError(f"An atlas of images is one file: --out {out.stem}{FILE}.")
    say(f"Loading {options.model} …")
    model = load(options.model, reads="image")
    say(f"Running {count_of(len(files), 'image')} …")
    atlas = atlas_of_images(model, files, say)
    settings = {**atlas.settings, "corpus": options.images.name}
    write_atlas(replace(atlas, settings=settings), out)
    heads = model.layers * model.heads
    size = size_of(out.stat().st_size)
    say(
        f"{out}: {count_of(len(atlas.sentences), 'image')}, {len(atlas.tokens):,} tokens, {heads:,}"
        f" heads, {size}."
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
