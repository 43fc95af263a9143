"""What a download button keeps until it is pressed, which should be little.

Streamlit holds the function that makes a file for as long as it holds the visitor's session: up to
128 of them for two minutes after they have left. A lambda on a page keeps everything that the page
has, its trace and its figures among it; these functions keep what they are given.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from core.analysis.csv_text import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def csv_later(make: Callable[[], pd.DataFrame], **how: Any) -> Callable[[], str]:  # noqa: ANN401
    """A function that makes a table when it is wanted, and writes it as CSV.

    Parameters
    ----------
    make : gives the table; a bound method or a `partial`, which keep nothing of a page.
    how : what :func:`core.analysis.csv_text.to_csv` takes.
    """
    return partial(_csv, make, how)


def _csv(make: Callable[[], pd.DataFrame], how: dict[str, Any]) -> str:
    return to_csv(make(), **how)
