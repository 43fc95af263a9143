"""What every page shows, as digests: taken before the code is moved, and compared after.

    python -m tests.digests take before.json
    python -m tests.digests compare before.json

A digest is of all numbers that a chart, a component, a table or a CSV file receives, in their
order, and another of its words; a move may change neither, an edit of the words only those.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import streamlit as st
from streamlit.testing.v1 import AppTest

if TYPE_CHECKING:
    from collections.abc import Iterator

APP = Path(__file__).parents[1] / "app.py"
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


def digests(page: str, link: dict[str, str]) -> dict[str, list[str]]:
    """The digests of all that a page shows for a link: of numbers, and of words."""
    app = AppTest.from_file(str(APP), default_timeout=300)
    app.switch_page(f"pages/{page}.py")
    for key, value in link.items():
        app.query_params[key] = value
    files: list[str] = []
    offer = st.download_button

    def keep(label: str, data: Any, **options: Any) -> bool:
        if str(options.get("file_name", "")).endswith(".csv"):
            files.append(data() if callable(data) else data)
        return offer(label, data, **options)

    with mock.patch.object(st, "download_button", keep):
        app.run()
    if app.exception:
        raise RuntimeError(f"{page} {link}: {app.exception[0].value}")
    shown = [_content(element.proto) for kind in _PICTURES for element in app.get(kind)]
    return {
        "numbers": [_digest(_numbers(each)) for each in [*shown, *files]],
        "words": [_digest(_words(each)) for each in [*shown, *files]],
    }


def _content(proto: Any) -> object:
    """What a message holds, without names that differ from run to run."""
    if "figure" in {field.name for field, _ in proto.ListFields()}:
        return json.loads(proto.figure.spec)
    if spec := getattr(proto, "spec", ""):
        return json.loads(spec)
    skipped = {"id", "js_content", "css_content", "html_content", "form_id", "component_name"}
    return {
        field.name: _plain(value)
        for field, value in proto.ListFields()
        if field.name not in skipped
    }


def _plain(value: Any) -> object:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value.SerializeToString(deterministic=True) if hasattr(value, "ListFields") else value


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for key in sorted(value):
            if key not in {"uid", "id", "layoutKey"}:
                yield key
                yield from _leaves(value[key])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
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


def take() -> dict[str, dict[str, list[str]]]:
    """The digests of every page and part, for every model and text."""
    found = {}
    for page, parts in PARTS.items():
        for part in parts:
            for model in MODELS:
                for number, text in enumerate(TEXTS):
                    name = f"{page} {json.dumps(part)} {model} text {number + 1}"
                    found[name] = digests(page, {"model": model, "text": text, **part})
                    print(name, len(found[name]["numbers"]), file=sys.stderr)
    return found


def compare(before: dict[str, dict[str, list[str]]], after: dict[str, dict[str, list[str]]]) -> int:
    """Print what differs; 0 when nothing does."""
    names = sorted(before.keys() | after.keys())
    different = [name for name in names if before.get(name) != after.get(name)]
    for name in different:
        old, new = before.get(name), after.get(name)
        kinds = [
            kind for kind in ("numbers", "words") if (old or {}).get(kind) != (new or {}).get(kind)
        ]
        print(f"{name}: {', '.join(kinds)} differ")
    print(f"{len(names) - len(different)} of {len(names)} are the same")
    return int(bool(different))


def main() -> int:
    """Take or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["take", "compare"])
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    found = take()
    if options.what == "take":
        options.file.write_text(json.dumps(found, indent=1))
        return 0
    return compare(json.loads(options.file.read_text()), found)


if __name__ == "__main__":
    sys.exit(main())
