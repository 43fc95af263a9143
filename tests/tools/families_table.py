"""The list of model types that open: a tiny model of each, opened as a visitor would open it.

``python -m tests.tools.families_table`` judges all in an hour, prints a line a type (what
became of it, how it is recorded, the refusal or the exception) and writes ``.github/FAMILIES.md``;
a test says when it is out of date.
"""

from __future__ import annotations

import os
import re
import textwrap
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

FAMILIES = Path(__file__).parents[2] / ".github" / "FAMILIES.md"
_WIDTH = 104
# What a refusal says, and why that is.
_REASONS = (
    ("a text alone", "Networks that want more than a text: images, sound, boxes"),
    ("Python package", "A Python package is missing that this app does not install"),
    (
        "sliding window",
        "Sliding windows in chunks, with a second query and key for global attention",
    ),
    ("cannot be captured", "No attention of queries and keys, or none that can be followed"),
    ("differs from", "The rule of their attention is another than the one this app knows"),
    ("", "Their layers cannot be shown side by side, or they cannot be built"),
)


def table(verdicts: list[dict[str, str]]) -> str:
    """The file's text (Markdown); `verdicts` are those of :mod:`tests.model.sweep.verdict`."""
    opens = [each["kind"] for each in verdicts if each["outcome"] == "opens"]
    parts = [
        "# Types of text model",
        _wrapped(
            f"What becomes of every type of text model in transformers {version('transformers')}: a"
            " tiny model of each, with random weights, opened as a visitor would open it, and"
            " compared with the type's own attention on a text, a pair, a long text and a padded"
            " batch. Made by `python -m tests.tools.families_table`; not written by hand."
        ),
        f"## Open: {len(opens)} of {len(verdicts)}",
        _names(opens),
        "## Refused, with a sentence that says why",
    ]
    rest = [each for each in verdicts if each["outcome"] != "opens"]
    for pattern, title in _REASONS:
        found = [each for each in rest if re.search(pattern, each["reason"])]
        rest = [each for each in rest if each not in found]
        if found:
            parts.append(f"**{title}** ({len(found)}):\n{_names([each['kind'] for each in found])}")
    return "\n\n".join(parts) + "\n"


def _names(kinds: list[str]) -> str:
    return _wrapped(", ".join(f"`{kind}`" for kind in sorted(kinds)) + ".")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def sweep() -> list[dict[str, str]]:
    """The verdicts of all text types, by name; each in a process of its own, two at once."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch
    from transformers.utils import logging

    from tests.model.sweep.sizes import all_kinds
    from tests.model.sweep.verdict import judge_all

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    verdicts = []
    for each in judge_all(all_kinds(), 2):
        print(f"{each.kind:<30} {each.outcome:<8} {each.way:<8} {each.reason}", flush=True)
        verdicts.append(asdict(each))
    text = [each for each in verdicts if each["outcome"] != "not text"]
    return sorted(text, key=lambda each: each["kind"])


if __name__ == "__main__":
    FAMILIES.write_text(table(sweep()), "utf-8")
