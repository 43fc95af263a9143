"""What every page shows, as digests: taken before code is moved, and compared after.

    python -m tests.tools.digests take after.json heatmap head_view --kinds encoder vision
    python -m tests.tools.digests take before.json --links after.json   # in the older checkout
    python -m tests.tools.digests compare before.json after.json

Every page and part is opened with an encoder, a decoder, an encoder-decoder (cross attention), a
hybrid and a vision model. Every array of three or more numbers that a chart, a component, a table
or a CSV file receives has a digest, at four significant digits. What a page still shows must be
among what it showed before; what it no longer shows is not missed.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import json
import sys
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df as read_frame

from core.ui.words.pages import PAGES
from tests.components.received import received
from tests.every_part import prepared_site, visits
from tests.opening import open_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Digests = dict[str, list[str]]  # by page and link


def _bart(folder: Path) -> None:
    from tests.model.language.checkpoints import build_with_head

    kind = "BartForConditionalGeneration"
    build_with_head("bart", kind, folder, stir=0.5, tie_word_embeddings=False)


def _hybrid(folder: Path) -> None:
    """Layers 3 and 6 of 8 attend."""
    from tests.model.sweep.tiny import build

    kinds = ["full_attention" if number in (3, 6) else "conv" for number in range(1, 9)]
    build("lfm2", folder, num_hidden_layers=8, layer_types=kinds)


TEXTS = (
    {"text": "Oh, this book? I've enjoyed it."},
    {"text": "The brown capybara is sleeping now.", "pair": "It is warm.", "two": "1"},
    {"text": "it it it <b>x</b> 😀 مرحبا, it said. It rains and it pours, they say."},
    {"text": "My friend told me about this class and I love it so far! She was right."},
)
IMAGES = ({"image": "three-shapes"}, {"image": "crowd"}, {"image": "rocket"})
_FOLDER = Path(gettempdir()) / "headscope-digests"  # a name of its own, since pages show it
# Models that are built when they are missing, by kind; links of all kinds.
_BUILT: dict[str, Callable[[Path], object]] = {"encoder-decoder": _bart, "hybrid": _hybrid}
KINDS: dict[str, dict[str, str]] = {
    "encoder": {"model": "bundled/minilm"},
    "decoder": {"model": "bundled/gpt2-novels"},
    "encoder-decoder": {
        "model": str(_FOLDER / "encoder-decoder"),
        "attention": "cross",
        "decoder": "Where is it?",
    },
    "hybrid": {"model": str(_FOLDER / "hybrid")},
    "vision": {"model": "bundled/vit-scenes", "input": "image"},
}
_PICTURES = ("plotly_chart", "bidi_component", "arrow_data_frame", "arrow_table")
_NAMES = {"id", "js_content", "css_content", "html_content", "form_id", "component_name"}


def digests(page: str, link: dict[str, str]) -> list[str]:
    """The digests of the arrays that a page shows for a link, sorted."""
    files: list[str] = []
    offer = st.download_button

    def keep(label: str, data: Any, **options: Any) -> bool:
        if str(options.get("file_name", "")).endswith(".csv"):
            files.append(data() if callable(data) else data)
        return offer(label, data, **options)

    with mock.patch.object(st, "download_button", keep):
        app = open_app(page, **link)
    shown = [_content(element.proto) for kind in _PICTURES for element in app.get(kind)]
    arrays = [*_arrays(shown), *(column for file in files for column in _columns(file))]
    return sorted({_digest(array) for array in arrays if array.size > 2})


def _content(proto: Any) -> Any:
    """What a message holds, without names that differ from run to run."""
    if type(proto).__name__ in {"ArrowDataFrame", "Arrow", "Table", "DataFrame"}:
        frame = read_frame(proto.data)
        return [frame[[name]].iloc[:, 0].tolist() for name in dict.fromkeys(frame.columns)]
    fields = {field.name: value for field, value in proto.ListFields()}
    if "figure" in fields:
        return json.loads(proto.figure.spec)
    if spec := getattr(proto, "spec", ""):
        return json.loads(spec)
    return {name: _plain(value) for name, value in fields.items() if name not in _NAMES}


def _plain(value: Any) -> object:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value.SerializeToString(deterministic=True) if hasattr(value, "ListFields") else value


def _arrays(value: object) -> Iterator[np.ndarray]:
    """Every array and list of numbers."""
    if isinstance(value, bytes):
        try:
            value = received(value)
        except (
            ValueError,
            KeyError,
            AttributeError,
            AssertionError,
        ):  # not what a component receives
            return
    if isinstance(value, dict):
        if "bdata" in value:  # an array of Plotly
            yield np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
            return
        for each in value.values():
            yield from _arrays(each)
    elif isinstance(value, list | tuple):
        if all(isinstance(each, int | float) for each in value):
            yield np.array(value, float)
            return
        for each in value:
            yield from _arrays(each)
    elif isinstance(value, np.ndarray):
        yield value


def _columns(file: str) -> Iterator[np.ndarray]:
    """The columns of numbers of a CSV file, whose first line may be a comment."""
    rows = [row for row in csv.reader(file.lstrip("\ufeff").splitlines()) if row[:1] != ["#"]]
    for column in zip(*rows[2:], strict=False):
        try:
            yield np.array([float(each or "nan") for each in column])
        except ValueError:  # words
            continue


def _digest(array: np.ndarray) -> str:
    text = " ".join(f"{each:.3e}" for each in array.astype(float).ravel())
    return hashlib.sha256(text.replace("-0.000e+00", "0.000e+00").encode()).hexdigest()[:16]


def links(kinds: Iterable[str], pages: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Page and link of every part, kind of model, and text or image."""
    for kind in kinds:
        given = IMAGES if kind == "vision" else TEXTS
        for page, part in visits("image" if kind == "vision" else "text"):
            prepared = part.get("corpus") == "prepared"
            if page in pages and (not prepared or kind == "encoder"):
                options = {key: value for key, value in part.items() if key not in {"text", "pair"}}
                for each in given[: 1 if page == "atlas" and kind != "vision" else None]:
                    yield page, {**KINDS[kind], **each, **options}


def take(visited: Iterable[tuple[str, dict[str, str]]]) -> Digests:
    """The digests of these pages and links."""
    for kind, build in _BUILT.items():
        if not (_FOLDER / kind).exists():
            build(_FOLDER / kind)
    taken = {}
    with prepared_site():
        for page, link in visited:
            name = f"{page} {json.dumps(link, ensure_ascii=False)}"
            taken[name] = digests(page, link)
            print(name, len(taken[name]), file=sys.stderr)
    return taken


def compare(before: Digests, after: Digests) -> int:
    """Print which links show arrays that they did not show before; 0 when none does."""
    new = {name: set(arrays) - set(before.get(name, [])) for name, arrays in after.items()}
    for name, arrays in new.items():
        if arrays:
            print(f"{name}: {len(arrays)} of {len(after[name])} arrays are new")
    shown, changed = sum(map(len, after.values())), sum(map(len, new.values()))
    print(f"{shown - changed} of {shown} arrays of {len(after)} links are as before")
    return int(changed > 0)


def main() -> int:
    """Take or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["take", "compare"])
    parser.add_argument("file", type=Path)
    pages = [page.name for page in PAGES]
    parser.add_argument("more", nargs="*", help=f"of these pages ({', '.join(pages)}); or a file")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--links", type=Path, help="the links of this file")
    options = parser.parse_args()
    if options.what == "compare":
        files = (options.file, Path(options.more[0]))
        return compare(*(json.loads(file.read_text()) for file in files))
    visited = links(options.kinds, options.more or pages)
    if options.links:
        names = json.loads(options.links.read_text())
        visited = (
            (page, json.loads(link)) for page, link in (name.split(" ", 1) for name in names)
        )
    options.file.write_text(json.dumps(take(visited), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
