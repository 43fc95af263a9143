"""How a figure is printed: name, median, spread, and, where there is a limit, how near it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NAME_WIDTH = 54
_DIGITS = {"ms": 1, "s": 2, "MB": 0, "x": 3, "count": 0}  # of each unit, after the point


@dataclass(frozen=True)
class Figure:
    """One thing that was measured, once or several times.

    Attributes
    ----------
    name : what was measured.
    values : every measurement, in `unit`.
    unit : "ms", "s", "MB" (10^6 bytes), "x" (a ratio) or "count".
    limit : what the median should not exceed, in `unit`; None where it is for information.
    """

    name: str
    values: tuple[float, ...]
    unit: str
    limit: float | None = None

    @property
    def median(self) -> float:
        """The figure that is compared with the limit."""
        return float(np.median(self.values))


def show_columns() -> None:
    """Say once how to read the lines that follow."""
    print("name: median [middle half of n measurements], limit, median / limit")


def show(name: str, values: list[float], unit: str, limit: float | None = None) -> None:
    """Print one figure."""
    print(line(Figure(name, tuple(values), unit, limit)), flush=True)


def line(figure: Figure) -> str:
    """One line that says it all.

    >>> line(Figure("redraw", (80.0, 90.0, 100.0), "ms", 60.0)).split(maxsplit=1)[1]
    '90.0 ms [85.0 … 95.0, n=3]    limit 60.0 ms  1.50 OVER'
    >>> line(Figure("errors", (0,), "count", 0)).split(maxsplit=1)[1]
    '0 count    limit 0 count  0.00 ok'
    """
    text = f"{figure.name:<{NAME_WIDTH}} {_written(figure.median, figure.unit):>9}"
    if len(figure.values) > 1:
        low, high = (_number(each, figure) for each in np.percentile(figure.values, [25, 75]))
        text += f" [{low} … {high}, n={len(figure.values)}]"
    if figure.limit is None:
        return text
    share = figure.median / figure.limit if figure.limit else figure.median
    verdict = "OVER" if figure.median > figure.limit else "ok"
    return f"{text}    limit {_written(figure.limit, figure.unit)}  {share:.2f} {verdict}"


def _written(value: float, unit: str) -> str:
    return f"{value:.{_DIGITS[unit]}f} {unit}"


def _number(value: float, figure: Figure) -> str:
    return f"{value:.{_DIGITS[figure.unit]}f}"
