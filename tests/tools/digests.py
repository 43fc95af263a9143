"""What every page shows, as digests: taken before code is moved, and compared after.

    python -m tests.tools.digests shown.json heatmap head_view

writes the file, or, where there is one, says what these pages (all by default) show that it has
not. Every page and part is opened with an encoder, a decoder, an encoder-decoder (cross attention),
a hybrid and a vision model. Every array of three or more numbers that a chart, a component or a
table receives has a digest, at four significant digits. What a page no longer shows is not missed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df as read_frame

from core.ui.words.pages import PAGES
from tests.components.received import received
from tests.model.language.checkpoints import build_with_head
from tests.model.sweep.tiny import build
from tests.opening import open_app, prepared_site, visits

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
    elif isinstance(value, list) and all(isinstance(each, int | float) for each in value):
        yield np.array(value, float)
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _arrays(each)


def _digest(array: np.ndarray) -> str:
    text = " ".join(f"{each:.3e}" for each in array.astype(float).ravel())
    return hashlib.sha256(text.replace("-0.000e+00", "0.000e+00").encode()).hexdigest()[:16]


def take(pages: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Links to every part of these pages, with every kind of model and input, and the digests."""
    build_missing()
    with prepared_site():
        for kind, model in LINKS.items():
            for page, part in visits("image" if kind == "vision" else "text"):
                if page not in pages or (part.get("corpus") == "prepared" and kind != "encoder"):
                    continue
                options = {key: value for key, value in part.items() if key not in {"text", "pair"}}
                for given in IMAGES if kind == "vision" else TEXTS:
                    link = {**model, **given, **options}
                    yield f"{page} {json.dumps(link, ensure_ascii=False)}", digests(page, link)


if __name__ == "__main__":
    file, taken = Path(sys.argv[1]), {}
    before = json.loads(file.read_text("utf-8")) if file.exists() else None
    for name, arrays in take(sys.argv[2:] or [page.name for page in PAGES]):
        taken[name] = arrays
        if before is None:
            print(f"{name}: {len(arrays)}")
        elif new := set(arrays) - set(before.get(name, [])):
            print(f"{name}: {len(new)} of {len(arrays)} arrays are new")
    if before is None:
        file.write_text(json.dumps(taken, indent=1), "utf-8")
