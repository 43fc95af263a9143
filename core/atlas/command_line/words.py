"""What command lines say, on stderr."""

from __future__ import annotations

import sys

from tqdm import tqdm


class BuildError(Exception):
    """The atlas cannot be built; the message says why in one line."""


def say(text: str) -> None:
    """Write a line."""
    sys.stderr.write(text + "\n")


def progress(total: int, unit: str) -> tqdm:
    """A progress bar, updated less often in a log than in a terminal."""
    interval = 0.5 if sys.stderr.isatty() else 5
    return tqdm(total=total, unit=unit, unit_scale=True, mininterval=interval)


def size_of(count: float) -> str:
    """Bytes in words."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1, count / 1e6):,.0f} MB"


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
