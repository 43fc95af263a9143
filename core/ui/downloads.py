"""What a download button holds on to until it is pressed, which should be little.

Streamlit keeps the function that makes a file as long as the visitor's session: up to 128 sessions
for two minutes after the visitors left. A lambda on a page would keep everything the page has,
including its trace and figures; these functions keep only their arguments.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from core.analysis.csv_text import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def csv_later(make: Callable[[], pd.DataFrame], **options: Any) -> Callable[[], str]:  # noqa: ANN401
    """A function that makes a table when called, and returns it as CSV.

    Parameters
    ----------
    make : returns the table; a bound method or a `partial`, which hold on to nothing of a page.
    options : passed to :func:`core.analysis.csv_text.to_csv`.
    """
    return partial(_csv, make, options)


def _csv(make: Callable[[], pd.DataFrame], options: dict[str, Any]) -> str:
    return to_csv(make(), **options)
