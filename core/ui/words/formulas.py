"""The formulas of scores and attention as the model in use has them, in LaTeX.

A model with a soft cap (Gemma 2) bounds its scaled dot products before the mask; the formula of any
other model leaves it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.model import Trace


def softcap_of(trace: Trace, layer: int | None = None) -> float | None:
    """The soft cap of a layer, or the first in any layer; None if scores are not bounded."""
    rules = trace.layers if layer is None else (trace.layers[layer],)
    return next((rule.softcap for rule in rules if rule.softcap is not None), None)


def capped(product: str, softcap: float | None) -> str:
    r"""A scaled dot product after the soft cap.

    >>> capped("x", None), capped("x", 50.0)
    ('x', '50\\,\\tanh\\bigl(x \\,/\\, 50\\bigr)')
    """
    if softcap is None:
        return product
    return rf"{softcap:g}\,\tanh\bigl({product} \,/\, {softcap:g}\bigr)"


def cap_sentence(softcap: float | None) -> str:
    """What the cap does, a sentence that follows the formula; empty without a cap."""
    if softcap is None:
        return ""
    return (
        f"This model has a **soft cap**: no score goes beyond ±{softcap:g}; the mask is added after"
        " it."
    )
