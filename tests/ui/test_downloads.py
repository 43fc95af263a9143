"""What files are called, what they say about themselves, and what their buttons keep."""

from __future__ import annotations

import codecs
import io
import json
import re
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
import pytest

from core import VERSION
from core.analysis.csv_text import comment
from core.ui.downloads import csv_text, file_stem, head_part

Engine = Literal["c", "python"]


def test_the_first_line_of_a_table_says_what_it_holds_and_pandas_reads_the_others() -> None:
    facts = {"headscope": VERSION, "text": 'a, =b\n"c" \'=d;@e'}
    frame = pd.DataFrame({"token": ["#1", "日本", 'say "x"'], "weight": [0.5, -1.0, 1 / 3]})
    file = csv_text(frame.copy, facts, index=False, float_format="%.2f").encode()
    assert file.startswith(codecs.BOM_UTF8)  # else spreadsheets show 日本 as æ—¥æœ¬
    assert json.loads(file.decode("utf-8-sig").splitlines()[0].removeprefix("# ")) == facts
    for engine in get_args(Engine):
        read = pd.read_csv(io.BytesIO(file), skiprows=1, engine=engine)
        pd.testing.assert_frame_equal(read, frame.round(2))


@pytest.mark.parametrize(
    "text",
    ["a\r\nb\u2028c", 'an odd " quote', '\\\\"', "x,=cmd|' /C calc'!A0", "a;\t+1, -1, '@x", "＝1"],
)
def test_whatever_was_typed_is_one_line_with_no_cell_to_run(text: str) -> None:
    line = comment({"text": text, "count": -1.5, "options": {"on": True}})
    assert len(line.splitlines()) == 1
    assert line.count('"') % 2 == 0  # some readers look for the end of a quote
    assert json.loads(line[2:]) == {"text": text, "count": -1.5, "options": {"on": True}}
    assert not [cell for cell in re.split(r"[,;\t]", line) if re.match(r"[ ']*[=+\-@＝]", cell)]


def test_a_name_holds_only_what_every_system_takes() -> None:
    names = [
        file_stem("heatmap", "bundled/minilm", head_part("4", "2")),
        file_stem("heatmap", "sentence-transformers/all-MiniLM-L6-v2", head_part("mean", "max")),
        file_stem("head-view", "/models/../my model: *?<x>\n/", "L4"),
        file_stem("atlas", "..", "5,000 tokens"),
        file_stem("atlas", "x" * 300, "a" * 20),
        file_stem("vectors", "", ""),
    ]
    assert names[:2] == ["heatmap-minilm-L4H2", "heatmap-all-MiniLM-L6-v2-mean-layer-max"]
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name) for name in names)
    assert names[-1] == "vectors"


def test_the_version_is_the_newest_in_the_changelog() -> None:
    changelog = (Path(__file__).parents[2] / ".github" / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (.+)$", changelog, re.MULTILINE)[0] == VERSION
