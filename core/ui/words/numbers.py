"""Numbers as people write them."""

from __future__ import annotations

import math


def number(value: float, form: str = ".2f", missing: str = "not defined") -> str:
    """A number with a true minus sign, or what stands for one that is not finite."""
    return format(value, form).replace("-", "−") if math.isfinite(value) else missing
