"""What every page shows, as digests: taken before code is moved, and compared after.

    python -m tests.digests take before.json
    python -m tests.digests compare before.json heatmap head_view

A digest covers all numbers that a chart, a component, a table or a CSV file receives, in order, and
another one its words. Moving code may change neither, editing words only those.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import streamlit as st

from tests.components.received import received
from tests.opening import open_app

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Digests = dict[str, dict[str, list[str]]]  # by page, part, model and text

MODELS = ("bundled/minilm", "bundled/gpt2-novels")
TEXTS = (
    "Oh, this book? I've enjoyed it.",
    "The brown capybara is sleeping now.",
    "it it it <b>x</b> 😀 مرحبا, it said. It rains and it pours, they say.",
    "My friend told me about this class and I love it so far! She was right.",
)
# Each page's parts, as its links name them.
PARTS: dict[str, tuple[dict[str, str], ...]] = {
    "home": ({},),
    "heatmap": ({}, {"view": "picture"}, {"layer": "2", "head": "3", "values": "scores"}),
    "vectors": ({}, {"head": "2"}),
    "projection": ({},),
    "query_key": (
        *({"part": part} for part in ("picture", "trust", "search", "heads")),
        {"span": "all heads"},
        {"span": "side by side"},
        {"colour": "norm", "dims": "3-D"},
    ),
    "head_view": ({}, {"layer": "2", "heads": "1,3", "weigh": "value"}),
    "model_view": ({}, {"style": "tiles", "pattern": "previous"}),
    "neuron_view": ({}, {"layer": "3", "head": "2"}),
    "patterns": tuple({"part": part} for part in ("heads", "one", "alike", "pronouns")),
    "anomalies": tuple(
        {"anomaly": part} for part in ("flags", "norms", "first", "moved", "states")
    ),
    "atlas": ({},),
}
_PICTURES = ("plotly_chart", "bidi_component", "arrow_data_frame", "arrow_table")
_NAMES = {"id", "js_content", "css_content", "html_content", "form_id", "component_name"}


def digests(page: str, link: dict[str, str]) -> dict[str, list[str]]:
    """The digests of all that a page shows for a link: of numbers, and of words."""
    files: list[str] = []
    offer = st.download_button

    def keep(label: str, data: Any, **options: Any) -> bool:
        if str(options.get("file_name", "")).endswith(".csv"):
            files.append(data() if callable(data) else data)
        return offer(label, data, **options)

    with mock.patch.object(st, "download_button", keep):
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
        elif isinstance(leaf, str) and "\n" in leaf:  # a CSV file
            yield "".join(char for char in leaf if char in "0123456789.-,\n").encode()


def _words(value: object) -> Iterator[bytes]:
    return (leaf.encode() for leaf in _leaves(value) if isinstance(leaf, str))


def _digest(parts: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(struct.pack("<Q", len(part)) + part)
    return digest.hexdigest()[:16]


def take(pages: Iterable[str]) -> Digests:
    """The digests of every part of these pages, for every model and text."""
    taken = {}
    for page in pages:
        for part, model, (number, text) in product(PARTS[page], MODELS, enumerate(TEXTS, 1)):
            name = f"{page} {json.dumps(part)} {model} text {number}"
            taken[name] = digests(page, {"model": model, "text": text, **part})
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
    parser.add_argument("pages", nargs="*", help=f"all, or some of {', '.join(PARTS)}")
    options = parser.parse_args()
    taken = take(options.pages or PARTS)
    if options.what == "compare":
        return compare(json.loads(options.file.read_text()), taken)
    options.file.write_text(json.dumps(taken, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
