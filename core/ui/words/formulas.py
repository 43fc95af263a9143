"""The formulas of scores and attention as the model in use has them, in LaTeX."""

from __future__ import annotations

from core.model.trace import Trace


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


def rule_notes(trace: Trace) -> str:
    """What is special about the model's scores, as sentences; empty for most models."""
    layers, notes = trace.layers, []
    if (softcap := softcap_of(trace)) is not None:
        notes.append(f"This model has a **soft cap**: no score goes beyond ±{softcap:g}.")
    if any(rule.biased for rule in layers):
        notes.append(
            "It adds a **position bias** to its scores: attention follows more than queries and"
            " keys."
        )
    if any(rule.sink is not None for rule in layers):
        notes.append(
            "Each head has a learned **sink**, a key without a token: the attention to the tokens"
            " adds up to less than 1."
        )
    return " ".join(notes)
