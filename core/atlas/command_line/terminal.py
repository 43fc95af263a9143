"""Arguments and output of ``python -m core.atlas_build``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from core.atlas.saved import FOLDER
from core.model.running.tracing import BATCH_TOKENS


def parser() -> argparse.ArgumentParser:
    """The parser of the command's arguments."""
    made = argparse.ArgumentParser(
        prog="python -m core.atlas_build",
        description="Build an atlas of a corpus: every head's queries and keys, in a folder.",
    )
    add = made.add_argument
    add("--model", required=True, help="a name, a hub id or a folder")
    source = made.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--corpus",
        help="a .txt, .csv, .tsv, .jsonl or .parquet file, a folder, or an address of either",
    )
    source.add_argument("--images", type=Path, help="a folder of images, for a model that sees")
    add("--out", required=True, type=Path, help=f"the folder to write (NAME{FOLDER})")
    add("--tokens", type=_positive, help="take a random sample of at most this many tokens")
    add("--text-column", help="of a table (default: the likeliest)")
    add("--label-column", help="of a table (default: none)")
    add(
        "--batch-tokens",
        type=_positive,
        default=BATCH_TOKENS,
        help="tokens to run at once (default: %(default)s; a graphics card may take more)",
    )
    add(
        "--half",
        action="store_true",
        help="keep queries and keys as float16 until the end: half the disk space, three digits",
    )
    add("--part-tokens", type=_positive, help="the most tokens that a kill may lose")
    add(
        "--ray",
        metavar="ADDRESS",
        help='build on a Ray cluster: "local" starts processes here, "auto" finds the one that this'
        " machine belongs to",
    )
    add("--workers", type=_positive, help="of --ray: processes that hold the model")
    add("--worker-cores", type=_positive, default=1, help="of each such process without a GPU")
    add("--restart", action="store_true", help="drop an earlier run's parts and replace the atlas")
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


class BuildError(Exception):
    """The atlas cannot be built; the message says why in one line."""


def say(text: str) -> None:
    """Print a line."""
    sys.stderr.write(text + "\n")


def progress(total: int, unit: str) -> tqdm:
    """A progress bar, updated less often in a log than in a terminal."""
    interval = 0.5 if sys.stderr.isatty() else 5
    return tqdm(total=total, unit=unit, unit_scale=True, mininterval=interval)


def size_of(count: float) -> str:
    """A number of bytes in words."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1, count / 1e6):,.0f} MB"


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in singular or plural."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
