"""Figures while another thread imports pandas, as the load of a model does on a cold server."""

from __future__ import annotations

import subprocess
import sys

from tests.server import ROOT

PROGRAM = """
import sys
import streamlit.web.bootstrap  # Streamlit imports plotly before we do
from importlib.machinery import ModuleSpec
from types import ModuleType
from core.figures.palette import palette
from core.figures.heads import go

assert "pandas" not in sys.modules
half = sys.modules["pandas"] = ModuleType("pandas")
half.__spec__ = ModuleSpec("pandas", None)
half.__spec__._initializing = True
figure = go.Figure()
figure.add_hline(0.5, line={"color": palette("light").ink})
figure.add_scatter(x=[0, 1], y=(2, 3))
del sys.modules["pandas"]
import pandas
figure.add_scatter(x=pandas.Series([0, 1]), y=[2, 3])
print(len(figure.layout.shapes), figure.data[1].x.tolist())
"""


def test_a_figure_does_not_ask_a_pandas_that_is_not_whole() -> None:
    command, said = [sys.executable, "-c", PROGRAM], subprocess.STDOUT
    assert subprocess.check_output(command, cwd=ROOT, stderr=said, text=True) == "1 [0, 1]\n"
