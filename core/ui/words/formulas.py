"""The formulas of scores and attention as the model in use has them, in LaTeX.

What only some models do (a soft cap, position biases, sinks) is said for those alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.model.trace import Layer, Trace

BIAS = (
    "This model adds a **position bias** to its scores (ALiBi or relative positions): attention"
    " follows more than queries and keys, and distances between them do not see it."
)
SINK = (
    "Each head of this model has a learned **sink**, a key without a token: it takes a share of"
    " every row, so the attention to the tokens adds up to less than 1."
)


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


def rule_notes(rules: Iterable[Layer]) -> str:
    """What is special about the scores of these layers, as sentences; empty for most models."""
    layers, notes = list(rules), []
    if caps := {rule.softcap for rule in layers} - {None}:
        notes.append(
            f"This model has a **soft cap**: no score goes beyond ±{max(filter(None, caps)):g}; the"
            " mask is added after it."
        )
    if any(rule.biased for rule in layers):
        notes.append(f"{BIAS} The mask $m$ holds it too.")
    if any(rule.sink is not None for rule in layers):
        notes.append(SINK)
    return " ".join(notes)
