"""Register a component from the .js and .css files in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.components.scripts import ROOT, inlined

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def register(name: str) -> ComponentRenderer:
    """Register the component in the folder `name`, which has ``<name>.js`` and ``<name>.css``."""
    return st.components.v2.component(
        f"headscope_{name}", js=read_script(name), css=read_style(name)
    )


def read_script(name: str) -> str:
    """The component's script after the modules that it imports."""
    return inlined(ROOT / name / f"{name}.js")


def read_style(name: str) -> str:
    """The component's style sheet."""
    return (ROOT / name / f"{name}.css").read_text("utf-8")
