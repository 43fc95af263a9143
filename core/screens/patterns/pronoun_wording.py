"""What the page says about coreference: on each set, and on both together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.screens.patterns.wording import head_name, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from core.analysis.coreference import Estimate
    from core.screens.patterns.marked import MarkedSet

SETS = {"pairs": "minimal pairs", "sample": "sample corpus"}


def conclude(sets: Mapping[str, MarkedSet]) -> str:
    """What holds on both sets (Markdown): whether heads beat both rules, and the best head."""
    sentences = []
    if "pairs" in sets:
        _, heads, context = _winners(sets["pairs"])
        sentences.append(
            f"**Where only meaning decides, {heads} demonstrably right more often than the nearest"
            f" or the first noun** ({context}; corrected for the choice among"
            f" {len(sets['pairs'].table)})."
        )
    if "sample" in sets:
        count, heads, context = _winners(sets["sample"])
        caveat = (
            ", but there nouns often differ in gender, number or role: these heads may only follow"
            " the grammar."
            if count
            else "."
        )
        sentences.append(f"On the sample corpus {heads} ({context}){caveat}")
    return " ".join(sentences)


def _winners(marked: MarkedSet) -> tuple[int, str, str]:
    """How many heads beat both rules, the same as subject and verb, and the rates beside it."""
    table, best = marked.table, marked.best
    count = int(table["better"].sum())
    heads = f"{count} of {len(table)} heads {'is' if count == 1 else 'are'}"
    rate = "" if best is None else f"best head {number(best.share.mean)}, "
    context = f"{rate}nearest noun {number(table['nearest'].iloc[0])}"
    return count, heads if count else "no head is", context


def describe_set(name: str, marked: MarkedSet) -> str:
    """How often rules and the best head are right on one set (Markdown)."""
    row = marked.table.iloc[0]
    content = (
        f"**Minimal pairs**: {row['pronouns']} pronouns in {row['groups']} pairs of sentences that"
        " differ in one word, which makes the other noun the right one; both agree with the"
        " pronoun."
        if name == "pairs"
        else f"**Sample corpus**: {row['pronouns']} pronouns, {row['groups']} sentences."
    )
    rules = (
        f"The nearest noun is right for {number(row['nearest'])}, the first for"
        f" {number(row['first'])}, guessing for {number(row['chance'])}"
    )
    best = marked.best
    if best is None:
        return f"{content} {rules}."
    heads = " and ".join(dict.fromkeys(head_name(*head) for head in best.heads))
    return (
        f"{content} {rules}; the best head ({heads}, chosen on one half, judged on the other) for"
        f" **{_interval(best.share)}**, {_interval(best.over['nearest'], '+.2f')} beside the"
        " nearest."
    )


def describe_head(name: str, row: pd.Series, *, pairs: bool) -> str:
    """What one head does, beside both rules (Markdown)."""
    total = row["pronouns"]
    rules = " and ".join(
        f"{number(row[f'over_{rule}'], '+.2f')} ({number(row[f'over_{rule}_low'])} to"
        f" {number(row[f'over_{rule}_high'])}) beside the {rule} noun"
        for rule in ("nearest", "first")
    )
    sentence = (
        f"**{name}** picks the antecedent for {round(row['coreference'] * total)} of {total}"
        f" pronouns, {number(row['coreference'])} ({number(row['low'])} to {number(row['high'])}):"
        f" {rules}."
    )
    if not pairs:
        return sentence
    right, wrong = row["both_right"], row["both_wrong"]
    return (
        f"{sentence} It heeds the deciding word in {right + wrong} of {row['groups']} pairs:"
        f" {right} right, {wrong} wrong."
    )


def _interval(estimate: Estimate, form: str = ".2f") -> str:
    mean = number(estimate.mean, form)
    if not np.isfinite(estimate.low):
        return mean
    return f"{mean} ({number(estimate.low)} to {number(estimate.high)})"
