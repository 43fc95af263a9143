"""Words for tokens and scores that several pages share."""

from __future__ import annotations

from core.model.trace import Trace


def hide_special(trace: Trace) -> str:
    """The label of the switch; "" if there are no special tokens to hide."""
    names = trace.input.specials
    return f"Hide {names}" if names else ""


def rule_notes(trace: Trace) -> str:
    """What is special about the model's scores, as sentences; empty for most models."""
    layers, notes = trace.layers, []
    softcap = next((rule.softcap for rule in layers if rule.softcap is not None), None)
    if softcap is not None:
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
