"""Download a model while its visitor waits: one at a time, with progress, until they leave."""

from __future__ import annotations

from core.model.errors import ModelError
from core.model.opening import downloads, hub
from core.model.opening.catalog import find_entry
from core.ui.serve.access import hub_token, max_download_mb, resolve
from core.ui.serve.long_work import Shared, bar_with_cancel, long_work

_now: Shared[tuple[hub.HubModel, int] | None] = Shared(None)  # the model, and the bytes so far


def fetch_model(name: str) -> None:
    """Download a model under a progress bar, after any that another visitor is waiting for.

    Each step of the bar checks that the visitor is still there: when they leave, Streamlit ends
    this run at the next step, and the download with it.

    Raises ModelError if it is not offered, too large for the site or the disk, or interrupted.
    """
    spec = find_entry(resolve(name))
    try:
        model = hub.look_up(spec.repos[0] if spec is not None else name, hub_token())
        tip = "Complete files are kept."
        with long_work(), bar_with_cancel("download_cancel", tip=tip) as bar:

            def show(arrived: int) -> None:
                _now.kept = model, arrived
                bar.show(*_progress(model))

            with _now.turn(lambda: bar.show(*_progress(model))):
                downloads.fetch(model, hub_token(), max_download_mb(), show)
    except ModelError as error:
        raise type(error)(error.problem, error.advice, name) from error  # the name as typed


def _progress(mine: hub.HubModel) -> tuple[float, str]:
    """The bar's share and its label."""
    model, arrived = _now.kept or (mine, 0)
    megabytes = f"{_megabytes(arrived)} of {_megabytes(model.size)} MB"
    if model != mine:
        return 0.0, (
            f"Another model is being downloaded ({megabytes}); yours waits for its turn. Stay on"
            " this page to keep it."
        )
    return arrived / max(1, model.size), (
        f"Downloading: {megabytes}. Leaving this page stops the download."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}" if size >= 1e7 else f"{size / 1e6:,.1f}"
