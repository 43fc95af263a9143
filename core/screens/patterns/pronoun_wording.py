"""What the page says about coreference: each set in one sentence, and what holds of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.screens.patterns.wording import head_name, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from core.analysis.coreference.grouped import Estimate
    from core.screens.patterns.shelf import MarkedSet

SETS = {"pairs": "minimal pairs", "sample": "sample corpus"}


def conclude(sets: Mapping[str, MarkedSet]) -> str:
    """What holds of both sets (Markdown): whether heads beat both rules, and the best head."""
    told = []
    if "pairs" in sets:
        count, of, beside = _beating(sets["pairs"])
        told.append(
            f"**Where only meaning decides, {_heads(count, of)} demonstrably right more often than"
            f" the nearest or the first noun** ({beside}; corrected for the choice among {of})."
        )
    if "sample" in sets:
        count, of, beside = _beating(sets["sample"])
        but = (
            ", but there nouns often differ in gender, number or role: grammar may be all that"
            " these heads follow."
            if count
            else "."
        )
        told.append(f"On the sample corpus {_heads(count, of)} ({beside}){but}")
    return " ".join(told)


def _beating(marked: MarkedSet) -> tuple[int, int, str]:
    """How many heads beat both rules, of how many; the best head's share beside the nearest."""
    table = marked.table
    assert table is not None  # noqa: S101 - the caller leaves out sets without a pronoun
    best = f"best head {number(marked.best.share.mean)}, " if marked.best is not None else ""
    beside = f"{best}nearest noun {number(float(table['nearest'].iloc[0]))}"
    return int(table["better"].sum()), len(table), beside


def say_set(name: str, marked: MarkedSet) -> str:
    """What is right how often on one set (Markdown)."""
    table = marked.table
    assert table is not None  # noqa: S101 - the caller leaves out sets without a pronoun
    row = table.iloc[0]
    what = (
        f"**Minimal pairs**: {int(row['pronouns'])} pronouns in {int(row['groups'])} pairs of"
        " sentences that differ in one word, which makes the other noun the right one; both agree"
        " with the pronoun."
        if name == "pairs"
        else f"**Sample corpus**: {int(row['pronouns'])} pronouns, {int(row['groups'])} sentences."
    )
    rules = (
        f"The nearest noun is right for {number(float(row['nearest']))}, the first for"
        f" {number(float(row['first']))}, guessing for {number(float(row['chance']))}"
    )
    return f"{what} {rules}{_best(marked)}."


def _best(marked: MarkedSet) -> str:
    best = marked.best
    if best is None:
        return ""
    names = " and ".join(dict.fromkeys(head_name(*head) for head in best.heads))
    return (
        f"; the best head ({names}, chosen on one half, judged on the other) for"
        f" **{_interval(best.share)}**, {_interval(best.over['nearest'], '+.2f')} beside the"
        " nearest"
    )


def say_head(name: str, row: pd.Series, *, pairs: bool) -> str:
    """What one head does, beside both rules (Markdown)."""
    total = int(row["pronouns"])
    right = round(float(row["coreference"]) * total)
    over = " and ".join(
        f"{number(float(row[f'over_{rule}']), '+.2f')} ({number(float(row[f'over_{rule}_low']))}"
        f" to {number(float(row[f'over_{rule}_high']))}) beside the {rule} noun"
        for rule in ("nearest", "first")
    )
    said = (
        f"**{name}** picks the antecedent for {right} of {total} pronouns,"
        f" {number(float(row['coreference']))} ({number(float(row['low']))} to"
        f" {number(float(row['high']))}): {over}."
    )
    if not pairs:
        return said
    heeds = int(row["both_right"]) + int(row["both_wrong"])
    return (
        f"{said} It heeds the word that differs in {heeds} of {int(row['groups'])} pairs:"
        f" {int(row['both_right'])} right, {int(row['both_wrong'])} wrong."
    )


def _heads(count: int, of: int) -> str:
    """The subject and verb of a sentence: no head is, 1 of 72 heads is, 5 of 72 heads are."""
    if not count:
        return "no head is"
    return f"{count} of {of} heads {'is' if count == 1 else 'are'}"


def _interval(estimate: Estimate, form: str = ".2f") -> str:
    if not np.isfinite(estimate.low):
        return number(estimate.mean, form)
    return f"{number(estimate.mean, form)} ({number(estimate.low)} to {number(estimate.high)})"
