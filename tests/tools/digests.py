"""What every page shows, as digests: taken before code is moved, and compared after.

    python -m tests.tools.digests take before.json
    python -m tests.tools.digests compare before.json heatmap head_view --kinds encoder vision

Every page and part is opened with an encoder, a decoder, an encoder-decoder (cross attention), a
hybrid and a vision model. A digest covers all numbers that a chart, a component, a table or a saved
table or report receives, in order, and another one its words, with the calls that Share prints.
Moving code may change neither, editing words only those.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import streamlit as st

from core.ui import python
from core.ui.python import share
from core.ui.python.writing import to_python
from core.ui.words.pages import PAGES
from tests.components.received import received
from tests.every_part import prepared_site, visits
from tests.opening import open_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Digests = dict[str, dict[str, list[str]]]  # by page and link


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


def digests(page: str, link: dict[str, str]) -> dict[str, list[str]]:
    """The digests of all that a page shows for a link: of numbers, and of words."""
    files: list[str] = []
    offer = st.download_button

    def keep(label: str, data: Any, **options: Any) -> bool:
        if str(options.get("file_name", "")).endswith((".csv", ".html")):
            files.append(data() if callable(data) else data)
        return offer(label, data, **options)

    def keep_code() -> None:
        files.append(to_python(python.kept()))

    with (
        mock.patch.object(st, "download_button", keep),
        mock.patch.object(share, "fill", keep_code),
    ):
        app = open_app(page, **link)
    if app.exception:
        raise RuntimeError(f"{page} {link}: {app.exception[0].value}")
    shown = [_content(element.proto) for kind in _PICTURES for element in app.get(kind)] + files
    return {
        "numbers": [_digest(_numbers(each)) for each in shown],
        "words": [_digest(_words(each)) for each in shown],
    }


def _content(proto: Any) -> Any:
    """What a message holds, without names that differ from run to run."""
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


def _leaves(value: object) -> Iterator[object]:
    """Every number, text and array, whatever the order of names."""
    if isinstance(value, bytes):
        try:
            value = received(value)
        except (ValueError, KeyError, AttributeError):  # not what a component receives
            yield value
            return
    if isinstance(value, dict):
        for key in sorted(value.keys() - {"uid", "id", "layoutKey"}):
            yield key
            yield from _leaves(value[key])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, np.ndarray):
        yield value.astype("<f8").tobytes()
    else:
        yield value


def _numbers(value: object) -> Iterator[bytes]:
    for leaf in _leaves(value):
        if isinstance(leaf, bytes):
            yield leaf
        elif isinstance(leaf, int | float):
            yield struct.pack("<d", leaf)
        elif isinstance(leaf, str) and "\n" in leaf:  # a file
            yield "".join(char for char in leaf if char in "0123456789.-,\n").encode()


def _words(value: object) -> Iterator[bytes]:
    return (leaf.encode() for leaf in _leaves(value) if isinstance(leaf, str))


def _digest(parts: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(struct.pack("<Q", len(part)) + part)
    return digest.hexdigest()[:16]


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


def take(kinds: Iterable[str], pages: Iterable[str]) -> Digests:
    """The digests of every part of these pages, for models of these kinds."""
    for kind, build in _BUILT.items():
        if kind in kinds and not (_FOLDER / kind).exists():
            build(_FOLDER / kind)
    taken = {}
    with prepared_site():
        for page, link in links(kinds, pages):
            name = f"{page} {json.dumps(link, ensure_ascii=False)}"
            taken[name] = digests(page, link)
            print(name, len(taken[name]["numbers"]), file=sys.stderr)
    return taken


def compare(before: Digests, after: Digests) -> int:
    """Print what differs of the digests taken after; 0 when nothing does."""
    different = 0
    for name, new in after.items():
        old = before.get(name, {})
        kinds = [kind for kind in ("numbers", "words") if old.get(kind) != new[kind]]
        if kinds:
            different += 1
            print(f"{name}: {', '.join(kinds)} differ")
    print(f"{len(after) - different} of {len(after)} are the same")
    return int(different > 0)


def main() -> int:
    """Take or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["take", "compare"])
    parser.add_argument("file", type=Path)
    pages = [page.name for page in PAGES]
    parser.add_argument("pages", nargs="*", help=f"all, or some of {', '.join(pages)}")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    taken = take(options.kinds, options.pages or pages)
    if options.what == "compare":
        return compare(json.loads(options.file.read_text()), taken)
    options.file.write_text(json.dumps(taken, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
