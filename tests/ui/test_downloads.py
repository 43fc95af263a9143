"""What a download button keeps until it is pressed."""

from __future__ import annotations

import pandas as pd

from core.ui.downloads import csv_later


def test_a_table_is_made_when_it_is_wanted() -> None:
    made: list[pd.DataFrame] = []

    def make() -> pd.DataFrame:
        made.append(pd.DataFrame({"weight": [0.25, 1 / 3]}))
        return made[-1]

    write = csv_later(make, index=False, float_format="%.2f")
    assert made == []
    assert write() == "weight\r\n0.25\r\n0.33\r\n"
