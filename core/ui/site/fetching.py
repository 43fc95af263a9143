"""Downloading a model while its visitor waits: in turn, counted, and ended when nobody waits."""

from __future__ import annotations

import time

import streamlit as st

from core.model import ModelError
from core.model.catalog import find
from core.model.downloading import downloads, hub
from core.ui.site.access import hub_token, max_download_mb, resolve

_BEAT_SECONDS = 0.3  # between two steps of the bar, which end when the visitor has left


def fetch_model(name: str) -> None:
    """Download a model under a progress bar.

    Every step of the bar is a sign that somebody waits: when the visitor goes elsewhere or closes
    the page, Streamlit ends this run at the next step, and the download ends seconds later.

    Raises
    ------
    ModelError
        When it is not offered, too large for the site or the disk, or breaks off.
    """
    spec = find(resolve(name))
    try:
        model = hub.ask(spec.repos[0] if spec is not None else name, hub_token())
        download = downloads.join(model, hub_token(), max_download_mb())
        slot = st.empty()
        with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0, text=_words(download))
            st.button("Cancel", key="download_cancel", help="What is complete is kept.")
        while download.wait(0) is None:
            bar.progress(_share(download), text=_words(download))
            time.sleep(_BEAT_SECONDS)
        slot.empty()
    except ModelError as error:
        raise type(error)(name, error.problem, error.advice) from error  # as it was asked for


def _share(download: downloads.Download) -> float:
    if download.ahead is not None:
        return 0.0
    return min(1.0, download.arrived / max(1, download.model.size))


def _words(download: downloads.Download) -> str:
    ahead = download.ahead
    if ahead is not None:
        return (
            f"Another model is being downloaded ({_megabytes(ahead.arrived)} of"
            f" {_megabytes(ahead.model.size)} MB); yours comes after it. Stay on this page to keep"
            " your turn."
        )
    return (
        f"Downloading: {_megabytes(download.arrived)} of {_megabytes(download.model.size)} MB."
        " It ends when you leave this page."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}" if size >= 1e7 else f"{size / 1e6:,.1f}"
