"""What every page shows, as digests: taken before code is moved, and compared after.

    python -m tests.tools.digests take before.json heatmap head_view
    python -m tests.tools.digests compare before.json after.json

Every page and part is opened with an encoder, a decoder, an encoder-decoder (cross attention), a
hybrid and a vision model. Every array of three or more numbers that a chart, a component or a table
receives has a digest, at four significant digits. What a page still shows must be among what it
showed before; what it no longer shows is not missed.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import numpy as np
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df as read_frame

from core.ui.words.pages import PAGES
from tests.components.received import received
from tests.model.language.checkpoints import build_with_head
from tests.model.sweep.tiny import build
from tests.opening import open_app, prepared_site, visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Digests = dict[str, list[str]]  # by page and link

TEXTS = (
    {"text": "Oh, this book? I've enjoyed it."},
    {"text": "The brown capybara is sleeping now.", "pair": "It is warm.", "two": "1"},
    {"text": "it it it <b>x</b> 😀 مرحبا, it said. It rains and it pours, they say."},
    {"text": "My friend told me about this class and I love it so far! She was right."},
)
IMAGES = ({"image": "three-shapes"}, {"image": "crowd"}, {"image": "rocket"})
_FOLDER = Path(gettempdir()) / "headscope-digests"  # a name of its own, since pages show it
_CROSS = {"attention": "cross", "decoder": "Where is it?"}
LINKS = {
    "encoder": {"model": "bundled/minilm"},
    "decoder": {"model": "bundled/gpt2-novels"},
    "encoder-decoder": {"model": str(_FOLDER / "encoder-decoder"), **_CROSS},
    "hybrid": {"model": str(_FOLDER / "hybrid")},
    "vision": {"model": "bundled/vit-scenes", "input": "image"},
}


def build_missing() -> None:
    """The models that do not come with the app: of the hybrid's 8 layers, 3 and 6 attend."""
    if not (folder := _FOLDER / "encoder-decoder").exists():
        kind = "BartForConditionalGeneration"
        build_with_head("bart", kind, folder, stir=0.5, tie_word_embeddings=False)
    if not (folder := _FOLDER / "hybrid").exists():
        kinds = ["full_attention" if number in (3, 6) else "conv" for number in range(1, 9)]
        build("lfm2", folder, num_hidden_layers=8, layer_types=kinds)


def digests(page: str, link: dict[str, str]) -> list[str]:
    """The digests of the arrays that a page shows for a link, sorted."""
    app = open_app(page, **link)
    shown: list[Any] = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    for component in app.get("bidi_component"):
        with suppress(ValueError, AssertionError):  # what is not packed has no arrays
            shown.append(received(component.proto.bytes))
    for kind in ("arrow_data_frame", "arrow_table"):
        frames = [read_frame(each.proto.data) for each in app.get(kind)]
        shown += [frame.iloc[:, at].tolist() for frame in frames for at in range(frame.shape[1])]
    return sorted({_digest(array) for array in _arrays(shown) if array.size > 2})


def _arrays(value: object) -> Iterator[np.ndarray]:
    """Every array and list of numbers."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict) and "bdata" in value:  # an array of Plotly
        yield np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
    elif isinstance(value, dict):
        yield from _arrays(list(value.values()))
    elif isinstance(value, list) and all(isinstance(each, int | float) for each in value):
        yield np.array(value, float)
    elif isinstance(value, list):
        for each in value:
            yield from _arrays(each)


def _digest(array: np.ndarray) -> str:
    text = " ".join(f"{each:.3e}" for each in array.astype(float).ravel())
    return hashlib.sha256(text.replace("-0.000e+00", "0.000e+00").encode()).hexdigest()[:16]


def take(pages: Iterable[str]) -> Digests:
    """The digests of every part of these pages, with every kind of model and text or image."""
    build_missing()
    taken = {}
    with prepared_site():
        for kind, model in LINKS.items():
            for page, part in visits("image" if kind == "vision" else "text"):
                if page not in pages or (part.get("corpus") == "prepared" and kind != "encoder"):
                    continue
                options = {key: value for key, value in part.items() if key not in {"text", "pair"}}
                for given in IMAGES if kind == "vision" else TEXTS:
                    link = {**model, **given, **options}
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
    options = parser.parse_args()
    if options.what == "compare":
        files = (options.file, Path(options.more[0]))
        return compare(*(json.loads(file.read_text()) for file in files))
    options.file.write_text(json.dumps(take(options.more or pages), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
