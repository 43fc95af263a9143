"""Files to save: their names, the facts they carry, and their buttons.

Streamlit keeps the function that makes a file as long as the session, two minutes after the visitor
has left. A lambda on a page would keep its trace and figures alive; a `partial` keeps only its
arguments, and a :class:`Contents` is a few lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from core import VERSION
from core.ui import address, controls

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".parquet": "application/vnd.apache.parquet",
    ".zip": "application/zip",
}
_CSV_HELP = (
    "Its first line says what the table holds: model, text, settings. Read it with"
    " `pandas.read_csv(file, skiprows=1)`."
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_MODEL = 40  # characters of a model in file names; a saved atlas may name any model
_OWN_FIELDS = {"model", "text", "pair", "two", "image", "layer", "head"}  # not listed as options


@dataclass(frozen=True)
class Contents:
    """What a saved file or picture contains.

    Attributes
    ----------
    stem : the file's name without extension, such as ``heatmap-minilm-L4H2``.
    facts : metadata inside the file, as JSON: the version, page, model, text and second text,
        layer and head as links write them, and the options.
    """

    stem: str
    facts: Mapping[str, Any]

    @property
    def about(self) -> str:
        """The text, or both texts, in quotation marks; empty if the file is about a corpus."""
        texts = [self.facts.get(name) for name in ("text", "pair", "image")]
        return " / ".join(f"“{' '.join(text.split())}”" for text in texts if text)

    def titled(self, title: str, *, place: str = "", about: str = "") -> dict[str, Any]:
        """What a component needs to save its picture.

        The first line has the `title`, the `place`, such as "L4 H2", and the model; the second is
        `about`, or else the text.
        """
        words = {
            "title": title,
            "place": place,
            "model": self.facts["model"],
            "about": about or self.about,
        }
        return {"name": self.stem, "facts": dict(self.facts), **words}


def contents(
    page: str, model: str, part: str | None = None, *, text: bool = True, **more: object
) -> Contents:
    """A description of what is on screen now, with the controls declared so far.

    Parameters
    ----------
    page : its short name, for the file's name.
    part : of the page or of the model; by default the chosen layer and head.
    text : whether the file is about the visitor's text.
    more : additional facts.
    """
    state, names = st.session_state, controls.declared()
    chosen = {key: written for key in names if (written := address.to_text(state.get(key)))}
    facts: dict[str, Any] = {"headscope": VERSION, "page": page, "model": model}
    if text and state.get("input") == "image":
        facts["image"] = chosen.get("image", "")
    elif text:
        facts["text"] = state.get("text", "")
        facts["pair"] = state.get("pair", "").strip() if state.get("two") else ""
    facts |= {name: chosen.get(name, "") for name in ("layer", "head")}
    options = {key: value for key, value in chosen.items() if key not in _OWN_FIELDS}
    place = head_part(facts["layer"], facts["head"]) if part is None else part
    known = {name: value for name, value in facts.items() if value}
    return Contents(file_stem(page, model, place), known | more | {"options": options})


def file_stem(page: str, model: str, part: str) -> str:
    r"""A file's name: the page, the last part of the model's name, what the file holds.

    >>> file_stem("heatmap", "bundled/minilm", "L4H2"), file_stem("atlas", "C:\\models\\é t", "")
    ('heatmap-minilm-L4H2', 'atlas-t')
    """
    short = _UNSAFE.sub("-", re.split(r"[/\\]", model.rstrip("/\\"))[-1]).strip("-.")
    return "-".join(filter(None, (page, short[:_MAX_MODEL], _UNSAFE.sub("-", part))))


def head_part(layer: str, head: str) -> str:
    """Layer and head of a link as a part of a file's name.

    >>> head_part("4", "2"), head_part("6", "mean"), head_part("mean", "max"), head_part("", "mean")
    ('L4H2', 'L6-mean', 'mean-layer-max', 'mean-head')
    """
    if layer.isdigit() and head.isdigit():
        return f"L{layer}H{head}"
    places = [f"L{layer}" if layer.isdigit() else f"{layer}-layer" if layer else ""]
    places.append(f"H{head}" if head.isdigit() else head if layer or not head else f"{head}-head")
    return "-".join(filter(None, places))


def offer_file(
    label: str,
    make: Callable[[], str | bytes],
    export: Contents,
    ending: str,
    **look: Any,  # noqa: ANN401 - of the button: help, width
) -> None:
    """A button for a file of what `export` describes; `make` runs when it is pressed."""
    kind = _KINDS[Path(f"file{ending}").suffix]
    name = f"{export.stem}{ending}"
    st.download_button(label, make, file_name=name, mime=kind, on_click="ignore", **look)


def offer_page(make: Callable[[], str], export: Contents) -> None:
    """A button that saves a picture as a standalone page."""
    hint = "One file that opens offline, with what pointing shows."
    offer_file("Save as HTML", make, export, ".html", help=hint)


def offer_csv(
    make: Callable[[], pd.DataFrame],
    export: Contents,
    *,
    key: str | None = None,
    **options: Any,  # noqa: ANN401
) -> None:
    """A button that saves a table, with arguments of :func:`csv_text`.

    `make` is a bound method or a `partial`, which keep nothing of a page alive.
    """
    write = partial(csv_text, make, export.facts, **options)
    offer_file("Download CSV", write, export, ".csv", help=_CSV_HELP, key=key)


def csv_text(
    make: Callable[[], pd.DataFrame],
    facts: Mapping[str, Any],
    **options: Any,  # noqa: ANN401
) -> str:
    """A table as CSV; `options` are passed to :func:`core.analysis.csv_text.to_csv`.

    It begins with a byte-order mark, without which spreadsheets read UTF-8 in their local encoding.
    """
    from core.analysis.csv_text import to_csv

    return "\N{ZERO WIDTH NO-BREAK SPACE}" + to_csv(make(), facts, **options)
