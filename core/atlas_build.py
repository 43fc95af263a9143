"""Build an atlas on the command line, from a corpus that is too large for a page.

    python -m core.atlas_build --model bundled/minilm --corpus reviews.csv --out reviews.parquet

Vectors are written to disk in parts, so memory is bounded by one part and a few heads, and a run
that was stopped or killed resumes when the same command is given again.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from core.analysis.atlas import Gathered, gather_trace
from core.analysis.atlas.assemble import assemble
from core.analysis.atlas.saved.file import MAX_ROWS, AtlasFileError
from core.analysis.atlas.shards import (
    ShardsError,
    finished_shard,
    open_folder,
    remove_folder,
    write_shard,
)
from core.analysis.corpus import MAX_BYTES, CorpusFileError, choose, read_table
from core.model import ModelError, choose_texts, load, trace_by_length
from core.model.tracing import BATCH_TOKENS, batches_by_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.atlas.shards import Shard
    from core.model import Chosen, LoadedModel

STOPPED, FAILED = 130, 2  # exit codes
_PART_TOKENS = 8_192
_PART_BYTES = 128 * 2**20  # vectors of a part, in memory until they are written
_ROW_BYTES = 85  # in the file, per head and token: 20 numbers that hardly compress, and names


class BuildError(Exception):
    """The atlas cannot be built; the message says why in one line."""


@dataclass(frozen=True)
class Plan:
    """What to run: texts and labels, and the texts of each part, shortest first."""

    texts: list[str]
    labels: list[str]
    parts: list[list[int]]
    chosen: Chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Build an atlas as the command line asks; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        build(options)
    except KeyboardInterrupt:
        folder = _folder(options.out)
        hint = f" {folder} keeps what is finished; the same command resumes."
        say("\nStopped." + (hint if folder.exists() else ""))
        return STOPPED
    except ShardsError as error:
        return _fail(f"{error} Choose another --out to keep them, or drop them with --restart.")
    except (BuildError, ModelError, CorpusFileError, AtlasFileError) as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("There is not enough memory: try fewer --batch-tokens and --part-tokens.")
    except OSError as error:
        return _fail(_describe(error, options.out))
    return 0


def build(options: argparse.Namespace) -> None:
    """Read, load, plan, run what has not run yet, and write the file."""
    out: Path = options.out
    texts, labels = _read_corpus(options)
    _check_out(out, restart=options.restart)
    say(f"Loading {options.model} …")
    model = load(options.model)
    plan = _plan(model, texts, labels, options)
    settings = {
        "corpus": options.corpus.name,
        "sentences_left_out": plan.chosen.corpus_size - len(plan.texts),
    }
    folder = _folder(out)
    if options.restart:
        remove_folder(folder)
    _check_disk(model, plan, folder)
    open_folder(folder, _fingerprint(model, plan, settings, options))
    shards = _run(model, plan, folder, options.batch_tokens)
    tokens = sum(shard.count for shard in shards)
    if not tokens:
        raise BuildError("No text in the corpus has a token of its own.")
    heads = model.layers * model.heads
    with _progress(heads, "head") as bar:
        assemble(
            shards, out, plan.texts, plan.labels, settings, lambda done, _: bar.update(done - bar.n)
        )
    shutil.rmtree(folder)
    say(f"{out}: {tokens:,} tokens, {heads:,} heads, {_size(out.stat().st_size)}.")
    if (rows := tokens * heads) > MAX_ROWS:
        say(
            f"It has {rows:,} rows, and the page opens at most {MAX_ROWS:,}:"
            f" read_atlas(path, max_rows={rows}) opens it if there is enough memory."
        )


def _run(model: LoadedModel, plan: Plan, folder: Path, batch_tokens: int) -> list[Shard]:
    """All parts, from the disk or run now."""
    finished = [finished_shard(folder, index) for index in range(len(plan.parts))]
    done = sum(
        plan.chosen.lengths[place]
        for shard, part in zip(finished, plan.parts, strict=True)
        for place in part
        if shard is not None
    )
    if done:
        parts = sum(shard is not None for shard in finished)
        say(f"Resuming after {parts} of {len(finished)} parts.")
    shards: list[Shard] = []
    with _progress(plan.chosen.tokens, "token", done) as bar:
        for index, part in enumerate(plan.parts):
            shard = finished[index]
            if shard is None:
                gathered = Gathered(before=sum(each.count for each in shards))
                texts = [plan.texts[place] for place in part]
                for place, trace in trace_by_length(model, texts, batch_tokens=batch_tokens):
                    gather_trace(gathered, part[place], trace)
                    bar.update(len(trace.tokens))
                shard = write_shard(folder, index, gathered)
            shards.append(shard)
    return shards


def _plan(
    model: LoadedModel, texts: Sequence[str], labels: Sequence[str], options: argparse.Namespace
) -> Plan:
    """Fill parts with whole batches, so that every text runs beside the same texts each time."""
    chosen = choose_texts(model, texts, options.tokens or sys.maxsize)
    part_tokens = options.part_tokens or min(
        _PART_TOKENS, max(1, _PART_BYTES // _vector_bytes(model))
    )
    parts: list[list[int]] = []
    filled = part_tokens
    for batch in batches_by_length(chosen.lengths, options.batch_tokens):
        tokens = sum(chosen.lengths[place] for place in batch)
        if filled + tokens > part_tokens:
            parts.append([])
            filled = 0
        parts[-1] += batch
        filled += tokens
    return Plan(
        [texts[place] for place in chosen.places],
        [labels[place] for place in chosen.places] if labels else [],
        parts,
        chosen,
    )


def _read_corpus(options: argparse.Namespace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    path: Path = options.corpus
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)  # the reader refuses larger files
    table = read_table(data, path.name)
    corpus = choose(table, options.text_column or table.text_column, options.label_column)
    for note in (*table.notes, *corpus.notes):
        say(note)
    return corpus.texts, corpus.labels


def _fingerprint(
    model: LoadedModel, plan: Plan, settings: dict[str, str | int], options: argparse.Namespace
) -> dict[str, str | int]:
    """Everything that determines the bytes of the parts and of the file."""
    weights = hashlib.sha256()
    for name, weight in model.network.state_dict().items():
        weights.update(name.encode())
        weights.update(weight.cpu().contiguous().numpy().reshape(-1))
    corpus = json.dumps([plan.texts, plan.labels]).encode("ascii")
    return {
        "model": model.name,
        "weights": weights.hexdigest(),
        "corpus": hashlib.sha256(corpus).hexdigest(),
        "settings": json.dumps(settings),
        "batch tokens": options.batch_tokens,
        "parts": hashlib.sha256(json.dumps(plan.parts).encode("ascii")).hexdigest(),
        "device": model.device,
        "torch": version("torch"),
    }


def _vector_bytes(model: LoadedModel) -> int:
    """Bytes of all queries and keys of one token."""
    return 4 * model.layers * (model.heads + model.kv_heads) * model.dim


def _check_out(out: Path, *, restart: bool) -> None:
    if out.is_dir() or not out.parent.is_dir():
        raise BuildError(f"{out} cannot be written: it is a folder, or its folder does not exist.")
    if out.exists() and not restart and not _folder(out).exists():
        raise BuildError(f"{out} exists already: choose another name, or replace it by --restart.")


def _check_disk(model: LoadedModel, plan: Plan, folder: Path) -> None:
    """Say how much disk space it takes, and refuse if there is less."""
    tokens, size = plan.chosen.tokens, plan.chosen.corpus_size
    file = tokens * model.layers * model.heads * _ROW_BYTES
    total = file + tokens * _vector_bytes(model)
    sample = f" (a random sample of {size:,})" if len(plan.texts) < size else ""
    say(
        f"{_count(tokens, 'token')} of {_count(len(plan.texts), 'text')}{sample} in"
        f" {_count(len(plan.parts), 'part')}, on {model.device}. It takes up to {_size(total)} of"
        f" disk space while it runs, and {_size(file)} for the file."
    )
    on_disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder.parent).free
    if total - on_disk > free:
        raise BuildError(
            f"The disk has {_size(free)} free, and about {_size(total - on_disk)} more are needed:"
            " make room, or take fewer --tokens."
        )


def _describe(error: OSError, out: Path) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return (
            f"The disk is full. {_folder(out)} keeps what is finished:"
            " make room, and give the same command again."
        )
    if error.errno == errno.EFBIG:
        return f"{out} is larger than this disk takes: write to another, or take fewer --tokens."
    file = f"{error.filename}: " if error.filename else f"{out} cannot be written: "
    return file + (error.strerror or str(error) or type(error).__name__)


def _folder(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def _progress(total: int, unit: str, done: int = 0) -> tqdm:
    """A progress bar on stderr, updated less often in a log than in a terminal."""
    interval = 0.5 if sys.stderr.isatty() else 5
    return tqdm(total=total, initial=done, unit=unit, unit_scale=True, mininterval=interval)


def say(text: str) -> None:
    """Write a line on stderr."""
    sys.stderr.write(text + "\n")


def _fail(message: str) -> int:
    say("error: " + " ".join(message.split()))
    return FAILED


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1, count / 1e6):,.0f} MB"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m core.atlas_build",
        description="Build an atlas of a corpus: every head's queries and keys, in one file.",
    )
    add = parser.add_argument
    add("--model", required=True, help="a name, a hub id or a folder")
    add("--corpus", required=True, type=Path, help="a .txt, .csv, .tsv or .jsonl file")
    add("--out", required=True, type=Path, help="the file to write (.parquet)")
    add("--tokens", type=_positive, help="take a random sample of at most this many tokens")
    add("--text-column", help="of a table (default: the likeliest)")
    add("--label-column", help="of a table (default: none)")
    add(
        "--batch-tokens",
        type=_positive,
        default=BATCH_TOKENS,
        help="tokens to run at once (default: %(default)s; a graphics card may take more)",
    )
    add("--part-tokens", type=_positive, help="the most tokens that a kill may lose")
    add("--restart", action="store_true", help="drop an earlier run's parts and replace the file")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


if __name__ == "__main__":
    sys.exit(main())
