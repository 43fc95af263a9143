"""Numbers and heads as people write them."""

from __future__ import annotations

import math


def number(value: float, form: str = ".2f", missing: str = "not defined") -> str:
    """A number with a true minus sign, or what stands for one that is not finite."""
    return format(value, form).replace("-", "−") if math.isfinite(value) else missing


def head_name(layer: int, head: int) -> str:
    """A head by its layer and its number there, from 0: "L4 H2"."""
    return f"L{layer + 1} H{head + 1}"
