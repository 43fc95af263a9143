"""Buttons that save a file, and what they hold on to until pressed, which should be little.

Streamlit keeps the function that makes a file as long as the session, two minutes after the visitor
has left. A lambda on a page would keep the page's trace and figures; a `partial` keeps its own
arguments only.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.csv_text import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

_KINDS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".parquet": "application/vnd.apache.parquet",
}


def offer_file(
    label: str,
    make: Callable[[], str | bytes],
    name: str,
    **look: Any,  # noqa: ANN401 - of the button: help, width
) -> None:
    """A button for a file whose name ends in its kind; `make` runs when it is pressed."""
    kind = _KINDS[Path(name).suffix]
    st.download_button(label, make, file_name=name, mime=kind, on_click="ignore", **look)


def csv_later(make: Callable[[], pd.DataFrame], **options: Any) -> Callable[[], str]:  # noqa: ANN401
    """A function that makes a table when called, and returns it as CSV.

    `make` is a bound method or a `partial`, which hold on to nothing of a page; `options` are those
    of :func:`core.analysis.csv_text.to_csv`.
    """
    return partial(_csv, make, options)


def _csv(make: Callable[[], pd.DataFrame], options: dict[str, Any]) -> str:
    return to_csv(make(), **options)
