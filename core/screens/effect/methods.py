"""How far methods that judge heads can be trusted: on models whose heads were planted by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import streamlit as st

from core.ui.words.prose import Prose

_words = Prose(__file__)
METHODS: dict[str, list[Any]] = tomllib.loads(
    Path(__file__).with_name("methods.toml").read_text("utf-8")
)["methods"]
NEEDED = 10  # heads of all planted models


def table_of_methods() -> list[str]:
    """The lines of the table (Markdown)."""
    lines = [
        "| method | area under ROC | without idle heads | finds | misses | points to in error |",
        "|:--|--:|--:|--:|:--|:--|",
    ]
    for name, (area, active, found, missed, wrong) in METHODS.items():
        numbers = f"{area:.2f} | {active:.2f} | {found} of {NEEDED}"
        lines.append(f"| {name} | {numbers} | {missed} | {wrong} |")
    return lines


def show_methods() -> None:
    """The table and its traps, folded."""
    with st.expander("How far can methods be trusted?"):
        st.markdown("\n".join(table_of_methods()))
        st.caption(_words("traps"))
