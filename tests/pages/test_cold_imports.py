"""The pages that a cold server opens first: their imports are few."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.import_graph import MODULES, ROOT

pytestmark = pytest.mark.slow

MAX_MODULES, MAX_LINES = 78, 8_000  # of ours, when the heatmap has been drawn
PAGE = ("app", "pages.heatmap")  # run, not imported

# What is imported when pages are drawn, one after the other, the lightest first, in a process a
# group that has imported Streamlit alone; nothing but what needs the model is missing.
DRAWING = """
import json, os, sys
import streamlit.web.bootstrap
import streamlit as st
from core.ui.cache import first_model
from tests.opening import open_app

assert "numpy" in sys.modules and not {"torch", "transformers", "pandas"} & sys.modules.keys()
first_model.finish_page = lambda: None
first_model.wait = lambda *_: st.stop()
os.environ.pop("OMP_WAIT_POLICY", None)
for pages in sys.argv[1:]:
    if os.fork():
        assert os.wait()[1] == 0
        continue
    for page in pages.split():
        open_app(page)
        assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"  # which torch will read
        print(json.dumps([page, sorted(sys.modules)]), flush=True)
    sys.exit()
"""
NEVER = {"torch", "transformers", "tokenizers", "huggingface_hub"}
TABLES = {"pandas", "pyarrow", "sklearn"}
_SENTENCE = ("heatmap", "home", "head_view", "model_view", "neuron_view", "vectors", "projection")
LIGHT = (*_SENTENCE, "query_key", "images")
TABLES_OF_HEADS = ("atlas", "patterns", "anomalies", "effect")


def test_pages_are_drawn_on_a_cold_server_before_torch_is_imported_by_few_modules() -> None:
    command = [sys.executable, "-c", DRAWING, " ".join(LIGHT), " ".join(TABLES_OF_HEADS)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    imported = {page: set(names) for page, names in map(json.loads, run.stdout.splitlines())}
    assert imported.keys() == {*LIGHT, *TABLES_OF_HEADS}
    for page, names in imported.items():
        never = NEVER | {"scipy.stats"}
        if page == "atlas":
            never |= {"scipy", "sklearn"}
        assert names & (never | TABLES if page in LIGHT else never) == set(), page
    ours = imported["heatmap"] & MODULES.keys()
    assert len(ours) + len(PAGE) <= MAX_MODULES
    lines = (MODULES[name].read_text("utf-8").count("\n") for name in [*ours, *PAGE])
    assert sum(lines) <= MAX_LINES
