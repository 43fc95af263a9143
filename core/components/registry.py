"""Register a component from the .js and .css files in its folder, shared helpers first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_HERE = Path(__file__).parent


def register(name: str, *shared: str) -> ComponentRenderer:
    """Register the component in the folder `name`.

    Parameters
    ----------
    name : a folder beside this file with ``<name>.js`` and ``<name>.css``.
    shared : scripts of ``shared/`` (without ``.js``) that the component's script calls.
    """
    return st.components.v2.component(
        f"headscope_{name}", js=read_script(name, *shared), css=read_style(name)
    )


def read_script(name: str, *shared: str) -> str:
    """The component's module, after the shared scripts it calls."""
    scripts = [(_HERE / "shared" / f"{each}.js").read_text("utf-8") for each in shared]
    return "\n".join([*scripts, (_HERE / name / f"{name}.js").read_text("utf-8")])


def read_style(name: str) -> str:
    """The component's style sheet."""
    return (_HERE / name / f"{name}.css").read_text("utf-8")
