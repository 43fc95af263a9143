"""How a figure is printed: name, median, spread, and, where there is a limit, how near it is."""

from __future__ import annotations

import numpy as np

NAME_WIDTH = 54
COUNTED_ERRORS: list[str] = []  # names of counts that should have been 0
_DIGITS = {
    "ms": 1,
    "s": 2,
    "MB": 0,
    "x": 3,
    "count": 0,
    "logits": 7,
}  # of each unit, after the point


def show_columns() -> None:
    """Say once how to read the lines that follow."""
    print("name: median [middle half of n measurements], limit, median / limit")


def show(name: str, values: list[float], unit: str, limit: float | None = None) -> None:
    """Print one thing that was measured, once or several times.

    Parameters
    ----------
    values : every measurement, in `unit`: "ms", "s", "MB" (10^6 bytes), "x" (a ratio), "logits" or
        "count".
    limit : what the median should not exceed; None where it is for information.
    """
    digits, median = _DIGITS[unit], float(np.median(values))
    text = f"{name:<{NAME_WIDTH}} {f'{median:.{digits}f} {unit}':>9}"
    if len(values) > 1:
        low, high = np.percentile(values, [25, 75])
        text += f" [{low:.{digits}f} … {high:.{digits}f}, n={len(values)}]"
    if limit is not None:
        share, verdict = median / (limit or 1), "OVER" if median > limit else "ok"
        if unit == "count" and limit == 0 < median:
            COUNTED_ERRORS.append(name)
        text += f"    limit {limit:.{digits}f} {unit}  {share:.2f} {verdict}"
    print(text, flush=True)
