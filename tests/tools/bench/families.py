"""Which text types of transformers open: a tiny model of each, opened as a visitor would open it.

Each type runs in a process of its own. The table has a line a type: what became of it, the way in
which it is recorded, what of the model's own eager pass it was compared with, the largest
difference, and the refusal or the exception.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from tqdm import tqdm

from tests.tools.bench.extent import few
from tests.tools.bench.report import show

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.model.sweep.verdict import Verdict

JOBS = 2
OUTCOMES = ("opens", "refused", "wrong", "crash", "unbuilt")
NONE_OF = ("wrong", "crash")
_REASON_WIDTH = 160  # characters of a reason in the table; the JSON file has all of it


def run(only: Sequence[str] = (), file: Path | None = None, jobs: int = JOBS) -> None:
    """Print the table and the counts.

    Parameters
    ----------
    only : the types to judge; every text type when empty.
    file : where to write the verdicts as JSON.
    jobs : processes at once.
    """
    verdicts = _verdicts(only, jobs)
    for verdict in verdicts:
        error = "" if verdict.error is None else f"{verdict.error:.0e}"
        found = f"{verdict.way:<8} {verdict.against:<8} {error:>6}"
        print(f"{verdict.kind:<30} {verdict.outcome:<8} {found} {verdict.reason[:_REASON_WIDTH]}")
    counts = Counter[str](verdict.outcome for verdict in verdicts)
    show("text types", [len(verdicts)], "count")
    for outcome in OUTCOMES:
        show(outcome, [counts[outcome]], "count", 0 if outcome in NONE_OF else None)
    if file is not None:
        file.write_text(json.dumps([asdict(each) for each in verdicts], indent=1), "utf-8")


def _verdicts(only: Sequence[str], jobs: int) -> list[Verdict]:
    """Verdicts of the text types, by outcome and then by name."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch
    from transformers.utils import logging

    from tests.model.sweep.kinds import all_kinds
    from tests.model.sweep.processes import judge_all

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    kinds = only or few(all_kinds(), ["bert"])
    verdicts = tqdm(judge_all(kinds, jobs), total=len(kinds), unit="type", leave=False)
    text = [each for each in verdicts if each.outcome != "not text"]
    return sorted(text, key=lambda each: (OUTCOMES.index(each.outcome), each.kind))
