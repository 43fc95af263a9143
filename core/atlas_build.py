"""Builds an atlas of a corpus on the command line, where the corpus is too large for a page.

    python -m core.atlas_build --model bundled/minilm --corpus reviews.csv --out reviews.parquet

The vectors are kept on disk in parts while it runs: memory is bounded by one part and a few heads,
and a run that was stopped or killed goes on where it was when the same command is given again.
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
from core.console import ProgressLine, counted, say, size
from core.model import ModelError, choose_texts, load, trace_by_length
from core.model.tracing import BATCH_TOKENS, batches_by_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.atlas.shards import Shard
    from core.model import Chosen, LoadedModel

STOPPED, FAILED = 130, 2  # exit codes: after Ctrl-C, and when it cannot be done
_PART_TOKENS = 8_192
_PART_BYTES = 128 * 2**20  # of vectors in a part, which are in memory until it is written
_ROW_BYTES = 85  # of the file, for a head and token: 20 numbers that hardly pack, and their names


class BuildError(Exception):
    """It cannot be done; the message says why in one line."""


@dataclass(frozen=True)
class Plan:
    """What is run: texts, with their labels, and which of them are in each part, shortest first."""

    texts: list[str]
    labels: list[str]
    parts: list[list[int]]
    chosen: Chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Build an atlas as the command line asks for; gives the exit code."""
    options = _parser().parse_args(arguments)
    try:
        build(options)
    except KeyboardInterrupt:
        kept = _folder(options.out)
        known = (
            f" {kept} keeps what is finished: the same command goes on." if kept.exists() else ""
        )
        say("\nStopped." + known)
        return STOPPED
    except ShardsError as error:
        return _failed(f"{error} Another name for --out leaves it; --restart drops such parts.")
    except (BuildError, ModelError, CorpusFileError, AtlasFileError) as error:
        return _failed(str(error))
    except MemoryError:
        return _failed("There is not enough memory: try fewer --batch-tokens and --part-tokens.")
    except OSError as error:
        return _failed(_told_of(error, options.out))
    return 0


def build(options: argparse.Namespace) -> None:
    """Read, load, plan, run what is not run yet, and write the file."""
    texts, labels = _read_corpus(options)
    out: Path = options.out
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
    open_folder(folder, _run_of(model, plan, settings, options))
    shards = _run(model, plan, folder, options.batch_tokens)
    if not any(shard.count for shard in shards):
        raise BuildError("No text of the corpus has a token of its own.")
    line = ProgressLine()
    assemble(shards, out, plan.texts, plan.labels, settings, line.heads)
    line.end()
    shutil.rmtree(folder)
    _tell_result(model, out, sum(shard.count for shard in shards))


def _run(model: LoadedModel, plan: Plan, folder: Path, batch_tokens: int) -> list[Shard]:
    """All parts, each from the disk or run now. The line of progress counts what is run."""
    known = [finished_shard(folder, index) for index in range(len(plan.parts))]
    kept = sum(
        plan.chosen.lengths[i]
        for shard, part in zip(known, plan.parts, strict=True)
        for i in part
        if shard is not None
    )
    if kept:
        say(f"Going on after {sum(shard is not None for shard in known)} of {len(known)} parts.")
    line = ProgressLine(plan.chosen.tokens, kept)
    shards: list[Shard] = []
    for index, (found, part) in enumerate(zip(known, plan.parts, strict=True)):
        shard = found
        if shard is None:
            gathered = Gathered(before=sum(each.count for each in shards))
            texts = [plan.texts[i] for i in part]
            for place, trace in trace_by_length(model, texts, batch_tokens=batch_tokens):
                gather_trace(gathered, part[place], trace)
                line.tokens(len(trace.tokens))
            shard = write_shard(folder, index, gathered)
        shards.append(shard)
    line.end()
    return shards


def _plan(
    model: LoadedModel, texts: Sequence[str], labels: Sequence[str], options: argparse.Namespace
) -> Plan:
    """Parts are whole batches, so that every text runs beside the same texts however it is cut."""
    chosen = choose_texts(model, texts, options.tokens or sys.maxsize)
    vector_bytes = _vector_bytes(model)
    most = options.part_tokens or min(_PART_TOKENS, max(1, _PART_BYTES // vector_bytes))
    parts: list[list[int]] = []
    filled = most
    for batch in batches_by_length(chosen.lengths, options.batch_tokens):
        tokens = sum(chosen.lengths[i] for i in batch)
        if filled + tokens > most:
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
        data = file.read(MAX_BYTES + 1)  # the reader refuses what has more
    table = read_table(data, path.name)
    found = choose(table, options.text_column or table.text_column, options.label_column)
    for note in (*table.notes, *found.notes):
        say(note)
    return found.texts, found.labels


def _run_of(
    model: LoadedModel, plan: Plan, settings: dict[str, str | int], options: argparse.Namespace
) -> dict[str, str | int]:
    """All that decides on the bytes of the parts and of the file."""
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
    """Of all queries and keys of a token."""
    return 4 * model.layers * (model.heads + model.kv_heads) * model.dim


def _check_out(out: Path, *, restart: bool) -> None:
    if out.is_dir() or not out.parent.is_dir():
        raise BuildError(f"{out} cannot be written: it is a folder, or its folder does not exist.")
    if out.exists() and not restart and not _folder(out).exists():
        raise BuildError(f"{out} exists already: choose another name, or replace it by --restart.")


def _check_disk(model: LoadedModel, plan: Plan, folder: Path) -> None:
    """Tell how much disk it takes, and refuse where that is not there."""
    tokens = plan.chosen.tokens
    file = tokens * model.layers * model.heads * _ROW_BYTES
    needed = file + tokens * _vector_bytes(model)
    sample = (
        f" (a random sample of {plan.chosen.corpus_size:,})"
        if len(plan.texts) < plan.chosen.corpus_size
        else ""
    )
    say(
        f"{counted(tokens, 'token')} of {counted(len(plan.texts), 'text')}{sample} in"
        f" {counted(len(plan.parts), 'part')}, on {model.device}. While it runs it takes up to"
        f" {size(needed)} of disk, {size(file)} of them for the file."
    )
    kept = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder.parent).free
    if needed - kept > free:
        raise BuildError(
            f"The disk has {size(free)} free, and about {size(needed - kept)} more are needed:"
            " make room, or take fewer --tokens."
        )


def _tell_result(model: LoadedModel, out: Path, tokens: int) -> None:
    heads = model.layers * model.heads
    say(f"{out}: {tokens:,} tokens, {heads:,} heads, {size(out.stat().st_size)}.")
    if tokens * heads > MAX_ROWS:
        say(
            f"It has {tokens * heads:,} rows, and the page opens {MAX_ROWS:,} at most:"
            f" read_atlas(path, max_rows={tokens * heads}) opens it where there is memory."
        )


def _told_of(error: OSError, out: Path) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return (
            f"The disk is full. What is finished is kept in {_folder(out)}:"
            " make room, and give the same command again."
        )
    if error.errno == errno.EFBIG:
        return f"{out} is larger than this disk takes: write to another, or take fewer --tokens."
    named = f"{error.filename}: " if error.filename else f"{out} cannot be written: "
    return named + (error.strerror or str(error) or type(error).__name__)


def _folder(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def _failed(message: str) -> int:
    say("error: " + " ".join(message.split()))
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m core.atlas_build",
        description="Build an atlas of a corpus: every head's queries and keys, in one file.",
    )
    parser.add_argument("--model", required=True, help="a name, a hub id or a folder")
    parser.add_argument("--corpus", required=True, type=Path, help="a .txt, .csv, .tsv or .jsonl")
    parser.add_argument("--out", required=True, type=Path, help="the file to write (.parquet)")
    parser.add_argument("--tokens", type=_positive, help="a random sample of so many at most")
    parser.add_argument("--text-column", help="of a table; else the likeliest")
    parser.add_argument("--label-column", help="of a table; else none")
    parser.add_argument(
        "--batch-tokens",
        type=_positive,
        default=BATCH_TOKENS,
        help="that run at once (default %(default)s; a graphics card may take more)",
    )
    parser.add_argument("--part-tokens", type=_positive, help="that a kill may lose at most")
    parser.add_argument(
        "--restart", action="store_true", help="drop what an earlier run left, and replace the file"
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


if __name__ == "__main__":
    sys.exit(main())
