"""Numbers and lists as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float, form: str = ".2f", missing: str = "not defined") -> str:
    """A number with a true minus sign; `missing` if it is not finite."""
    return format(value, form).replace("-", "−") if math.isfinite(value) else missing


def in_a_row(parts: Sequence[str]) -> str:
    """The parts joined as in a sentence.

    >>> in_a_row(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
