"""A new head pattern is a record and its words, a new anomaly flag a record: pages show both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REGISTRY = "core/analysis/head_patterns/registry.py"
WORDS = "core/ui/words/pattern_words.toml"
RECORD = """
PATTERNS += (
    Pattern(
        "two_before",
        partial(neighbours, offset=-2),
        Naming(50, "a column in the middle", hue=330),
        threshold=0.05,
        highlight=50,
        in_head_view=True,
    ),
)
"""
ENTRY = """
[text.two_before]
title = "two before"
where = "the token two places before"
"""
FLAGS = "core/analysis/anomalies/flags.toml"
FLAG = """
["narrow head"]
measure = "rank"
title = "stable rank"
unit = "directions"
kind = "attention"
source = "a test"
limits = { side = "below", threshold = 2.0, outlier = 2.0 }
definition = "how many directions the attention really has."
reason = "its attention has {:.1f} directions"
"""


def shown_with_both(root: Path) -> dict[str, object]:
    """What a copy of the app that differs in those three files shows, in a process of its own."""
    root.mkdir()
    changed = {
        REGISTRY: (ROOT / REGISTRY).read_text("utf-8") + RECORD,
        WORDS: (ROOT / WORDS).read_text("utf-8") + ENTRY,
        FLAGS: (ROOT / FLAGS).read_text("utf-8") + FLAG,
    }
    for name in ("app.py", "pages", "core", "tests", ".streamlit"):
        _mirror(ROOT / name, root / name, [root / path for path in changed])
    for path, source in changed.items():
        (root / path).write_text(source, "utf-8")
    shown = subprocess.run(
        [sys.executable, "-m", "tests.pages.show_new_pattern"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr[-2000:]
    lines: dict[str, object] = json.loads(shown.stdout.splitlines()[-1])
    return lines


def _mirror(source: Path, target: Path, changed: list[Path]) -> None:
    """Links to everything, and folders of their own on the way to what will be changed."""
    if target.name == "app.py" or any(target in each.parents for each in changed):
        if source.is_file():
            target.write_bytes(source.read_bytes())
            return
        target.mkdir()
        for child in source.iterdir():
            if child.name != "__pycache__":
                _mirror(child, target / child.name, changed)
    elif target not in changed:
        target.symlink_to(source)


VIEWS = (
    ("highlights", "two before"),
    ("search", "with more than 0.05 of attention on the token two places before"),
    ("legend", "two before ("),
    ("mathematics", "two before (0.05)"),
    ("head view", "Mean attention to the token two places before"),
    ("flag", "72 heads** have narrow head on this text"),
    ("flag", "**Narrow head:** its attention has 1."),
    ("flag", "**Definition:** how many directions the attention really has."),
    ("flag", "**Source:** a test."),
    ("flag", "**Threshold:** flagged up to 2, with 12 tokens or more."),
)


@pytest.mark.slow
def test_the_table_and_every_view_have_a_new_pattern_and_a_new_flag(tmp_path: Path) -> None:
    seen = shown_with_both(tmp_path / "app")  # once: it takes a process of its own
    assert seen["class"] == "two_before"
    assert seen["score"] == pytest.approx(0.9, abs=1e-5)
    assert [view for view in VIEWS if view[1] not in str(seen[view[0]])] == []
