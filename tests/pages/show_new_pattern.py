"""Print what the app shows of a new head pattern and a new anomaly flag; see test_new_pattern."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from core.analysis.head_patterns import pattern_table
from tests.analysis.traces import trace_with_attention


def open_page(page: str, **parameters: str) -> AppTest:
    app = AppTest.from_file(str(Path.cwd() / "app.py"), default_timeout=120)
    app.switch_page(f"pages/{page}.py")
    for key, value in parameters.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, app.exception
    return app


def texts(app: AppTest) -> list[str]:
    return [str(each.value) for each in (*app.markdown, *app.caption)]


def table_of_a_planted_head() -> dict[str, object]:
    weights = np.full((10, 10), 0.1 / 9, dtype=np.float32)
    weights[np.arange(10), np.arange(10) - 2] = 0.9
    row = pattern_table(trace_with_attention(weights[None, None])).iloc[0]
    return {"class": row["class"], "score": float(row["two_before"])}


def show() -> dict[str, object]:
    model_view = open_page("model_view", pattern="two_before")
    heads = open_page("patterns")
    head_view = open_page("head_view", what="1")
    return {
        **table_of_a_planted_head(),
        "highlights": [menu.options for menu in model_view.selectbox],
        "search": texts(model_view),
        "legend": [each.proto.spec for each in heads.get("plotly_chart")],
        "mathematics": texts(heads),
        "head view": str([view.proto for view in head_view.get("bidi_component")]),
        "flag": texts(open_page("anomalies", flag="narrow head")),
    }


if __name__ == "__main__":
    print(json.dumps(show()))
