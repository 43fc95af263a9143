"""The atlas page with a small atlas: of pasted lines, or one that the site has prepared."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.atlas import Atlas, build_atlas
from core.model import load, trace_corpus
from tests.atlas.files import save_atlas
from tests.opening import open_app

CAUSAL = "bundled/gpt2-novels"
LINES = [
    "The doctor said that she would call her brother.",
    "When she arrived, her bag was gone.",
    "The cat sat on the mat.",
    "He thought that they had lost it.",
]


@functools.cache
def small() -> Atlas:
    """An atlas of the lines, with a label each."""
    traces = trace_corpus(load("bundled/minilm"), LINES)
    return build_atlas(traces, LINES, ["human", "human", "cat", "human"])


def opened(atlas: Atlas, **parameters: str) -> AppTest:
    """The page with an atlas that the site has prepared, until the end of the test."""
    folder = tempfile.mkdtemp()
    save_atlas(atlas, Path(folder) / "small.atlas")
    os.environ["HEADSCOPE_ATLASES"] = folder  # a fixture of all tests of pages sets it back
    app = open_app("atlas", corpus="prepared", **parameters)
    assert not app.exception
    return app


def paste(app: AppTest, lines: list[str]) -> AppTest:
    return app.text_area(key="pasted_lines").set_value("\n".join(lines)).run()


def of_lines(lines: list[str], **parameters: str) -> AppTest:
    """The page with the atlas of pasted lines."""
    app = paste(open_app("atlas", corpus="lines", **parameters), lines)
    if "Build the atlas" in [button.label for button in app.button]:  # else from the cache
        app.button(key="atlas_build").click().run()
    assert not app.exception
    return app
