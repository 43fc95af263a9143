"""Download a model while its visitor waits: in turn, with progress, stopped when they leave."""

from __future__ import annotations

import time

from core.model.catalog import find
from core.model.downloading import downloads, hub
from core.model.errors import ModelError
from core.ui.serve.access import hub_token, max_download_mb, resolve
from core.ui.serve.progress import UPDATE_SECONDS, bar_with_cancel


def fetch_model(name: str) -> None:
    """Download a model under a progress bar.

    Every step of the bar shows that somebody is waiting: when the visitor leaves, Streamlit ends
    this run at the next step, and the download stops seconds later.

    Raises ModelError when it is not offered, too large for the site or the disk, or interrupted.
    """
    spec = find(resolve(name))
    try:
        model = hub.ask(spec.repos[0] if spec is not None else name, hub_token())
        download = downloads.join(model, hub_token(), max_download_mb())
        with bar_with_cancel("download_cancel", tip="Complete files are kept.") as bar:
            while download.wait(0) is None:
                bar.show(*_progress(download))
                time.sleep(UPDATE_SECONDS)
    except ModelError as error:
        raise type(error)(error.problem, error.advice, name) from error  # the name as typed


def _progress(download: downloads.Download) -> tuple[float, str]:
    """The share of the bar, and its label."""
    ahead = download.ahead
    if ahead is not None:
        return 0.0, (
            f"Another model is being downloaded ({_megabytes(ahead.arrived)} of"
            f" {_megabytes(ahead.model.size)} MB); yours is next. Stay on this page to keep your"
            " turn."
        )
    size = download.model.size
    return min(1.0, download.arrived / max(1, size)), (
        f"Downloading: {_megabytes(download.arrived)} of {_megabytes(size)} MB."
        " Leaving this page stops the download."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}" if size >= 1e7 else f"{size / 1e6:,.1f}"
