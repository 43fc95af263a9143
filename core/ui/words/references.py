"""The sources that pages follow, as ``references.toml`` has them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final, NamedTuple

import streamlit as st

from core.ui.words.pages import opened

_FILE = Path(__file__).with_name("references.toml")


class Source(NamedTuple):
    """One source. `where` is a DOI, an arXiv number, an ISBN or an address, shown as text."""

    authors: str
    year: str
    title: str
    published: str  # and the part that is meant
    where: str


SOURCES: Final = {
    name: Source(**fields) for name, fields in tomllib.loads(_FILE.read_text("utf-8")).items()
}


def show_references() -> None:
    """A link to every source that the page follows."""
    with st.popover("References", type="tertiary", width="content"):
        st.markdown("\n".join(f"- {entry(SOURCES[name])}" for name in opened().references))


def entry(source: Source) -> str:
    """A line of the list (Markdown); the address is text, as it may open in no browser here."""
    return (
        f"{source.authors} ({source.year}). *{source.title}*. {source.published}. `{source.where}`"
    )
