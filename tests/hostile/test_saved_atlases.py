"""Folders that strangers wrote as atlases: refused in a sentence, or drawn; never gigabytes."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from core.analysis.layers import place_layers
from core.atlas import Atlas, build_atlas, open_large, search_tokens
from core.atlas.colours import offered_colourings, point_tones
from core.atlas.saved import ATLAS
from core.atlas.source import MATCH_KINDS, Source
from core.atlas.tables import SENTENCES, TOKENS
from core.components.points import AtlasCloud, Clouds, Panel, points_page
from core.figures.heads import head_map
from core.figures.palette import palette
from core.records import RecordError
from core.screens.atlas import wording
from core.screens.atlas.corpus import opening
from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.layouts import tile_points, tile_tokens
from core.screens.atlas.screen import Screen, token_data
from tests.atlas.files import Files, an_atlas, forged, opened, packed, trace, unpacked, written
from tests.hostile import little_memory

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

MEGABYTE = 1_000_000
TEXTS = tuple(f"word {i} and word {i + 1} are two words" for i in range(130))
LISTS = "[" + "[]," * (MEGABYTE // 4) + "[]]"


@pytest.fixture(scope="module")
def data() -> Files:
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(TEXTS)]
    return written(build_atlas(traces, TEXTS, ["a label"] * len(TEXTS)))


def described(text: str) -> Callable[[Files], Files]:
    return lambda data: {**data, ATLAS: packed(unpacked(data[ATLAS])[0], text)}


def with_texts(name: str, raw: bytes, ends: list[int]) -> Callable[[Files], Files]:
    def change(arrays: dict[str, Any], _: object) -> None:
        arrays[name] = np.frombuffer(raw, np.uint8)
        arrays[f"{name}.ends"] = np.array(ends, np.int64)

    return lambda data: forged(data, change)


def with_one_long_text(data: Files) -> Files:
    """A text of a megabyte in as many rows as there are sentences."""
    buffer, count = io.BytesIO(), len(TEXTS)
    text = pa.array(["word and word " * (MEGABYTE // 10)] * count).dictionary_encode()
    table = pa.table({"sentence": np.arange(count, dtype=np.int32), "text": text})
    table = table.append_column("label", pa.array(["a label"] * count))
    pq.write_table(table, buffer, compression="none", store_schema=False)
    return {**data, SENTENCES: buffer.getvalue()}


HEAVY: dict[str, tuple[Callable[[Files], Files], str]] = {
    "lists in lists": (described("[" + "[]," * (45 * MEGABYTE // 3) + "[]]"), "header claims"),
    "lists in a megabyte": (
        described(f'{{"format": "headscope", "version": 4, "content": {LISTS}}}'),
        "damaged|does not describe|lacks",
    ),
    "a name": (
        lambda data: forged(data, lambda _, c: c.update(model="x" * (MEGABYTE - 10_000))),
        "does not name a model|header claims",
    ),
    "tokens of air": (
        with_texts("tokens.texts", b"air", [0] * (2 * MEGABYTE) + [3]),
        "another shape",
    ),
    "a label": (
        with_texts("labels", b"x" * 10 * MEGABYTE, [10 * MEGABYTE] * len(TEXTS)),
        "longer than any is",
    ),
    "tables of one long text": (with_one_long_text, "damaged"),
    ATLAS: (lambda data: data, "too large: 3,000 MB"),
    TOKENS: (lambda data: data, "damaged|other columns"),
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_small_folder_never_grows_to_gigabytes(name: str, data: Files, tmp_path: Path) -> None:
    """Each is refused for its own reason; holes make the files of that name larger."""
    change, message = HEAVY[name]
    for file, content in data.items():
        (tmp_path / file).write_bytes(content)
    open_large(tmp_path)  # as it was, it opens
    for file, content in change(data).items():
        (tmp_path / file).write_bytes(content)
    if name in data:
        os.truncate(tmp_path / name, 3_000 * MEGABYTE)
    with little_memory(), pytest.raises(RecordError, match=message) as refused:
        open_large(tmp_path).search("word", "phrase")
    assert len(str(refused.value)) < 300


ODD: list[Any] = [
    *(None, True, 0, -1, 1, 2, 1.5, -0.5, 1e300, 10**15, 2**53, "", "x", "x" * 300, "\ud83d"),
    *("\0", "<img src=x>", [], {}, [0], [[]], {"a": 1}, float("nan"), float("inf")),
]
ODD_NUMBERS = [0, 1, -1, 0.5, 2, 1e-300, 1e300, np.nan, np.inf, -np.inf, 7, 2**31 - 1]
MUTATIONS = 60


def mutated(value: Any, draw: random.Random) -> Any:
    """One entry of a JSON value, somewhere within it, is another, or is gone."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.15:
        near: list[Any] = [value - 1, value + 1, 10**6] if isinstance(value, int) else []
        near += [value[:-1], value + "x", value * 50, value[1:]] if isinstance(value, str) else []
        return draw.choice(near if near and draw.random() < 0.4 else ODD)
    changed = dict(value) if isinstance(value, dict) else list(value)
    key = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
    if draw.random() < 0.1:
        changed.pop(key)
    else:
        changed[key] = mutated(value[key], draw)
    return changed


def with_odd_numbers(arrays: dict[str, NDArray[Any]], draw: random.Random) -> None:
    """Some numbers of an array are others."""
    values = arrays[draw.choice(list(arrays))].reshape(-1)
    with np.errstate(all="ignore"):
        for _ in range(draw.choice([1, 3, values.size])):
            odd = np.array(draw.choice(ODD_NUMBERS), dtype=np.float64)
            values[draw.randrange(values.size)] = odd.astype(values.dtype)


def test_whatever_opens_is_drawn() -> None:
    """Of many changes to what a folder says, some open; each of these has every picture."""
    files = [written(an_atlas(labelled=labelled)) for labelled in (True, False)]
    drawn = refused = 0
    for seed in range(MUTATIONS):
        data = files[seed // 2 % 2]
        draw = random.Random(seed)  # noqa: S311 - no secret
        arrays, about = unpacked(data[ATLAS])
        if seed % 2:
            about["content"] = mutated(about["content"], draw)
        else:
            with_odd_numbers(arrays, draw)
        try:
            atlas = opened({**data, ATLAS: packed(arrays, about)})
        except RecordError as error:
            refused += 1
            assert len(str(error)) < 300  # noqa: PT017 - what is refused is not known before
        else:
            drawn += 1
            draw_all(atlas)
    assert drawn > MUTATIONS / 20
    assert refused > MUTATIONS / 4


def filled(array: str, value: float, step: int = 10**6) -> Callable[[dict[str, Any], Any], None]:
    return lambda arrays, _: arrays[array].reshape(-1).__setitem__(slice(None, None, step), value)


def alike(text: str) -> Callable[[dict[str, Any], Any], None]:
    """Of nothing or of marks, in all tokens."""

    def change(arrays: dict[str, Any], _: object) -> None:
        for name in ("tokens.texts", "tokens.displays"):
            count = len(arrays[f"{name}.ends"])
            arrays[f"{name}.ends"][:] = len(text.encode()) * np.arange(1, 1 + count)
            arrays[name] = np.frombuffer(text.encode() * count, np.uint8)

    return change


EXTREMES = {
    "a point as far as numbers go": filled("points.raw", 3.4e38),
    "a point on the other side": filled("points.normalized", -3.4e38),
    "the smallest point": filled("points.translated", 1e-45),
    "a length beyond sums": filled("norms", 3.4e38),
    "everything is special": filled("tokens.special", 1, 1),
} | {text: alike(text) for text in ("", "\0", "<b>", "$x$ :red[x]")}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_are_drawn(name: str) -> None:
    draw_all(opened(forged(written(an_atlas()), EXTREMES[name])))


def draw_all(atlas: Atlas) -> None:
    """Raises whatever the page would raise, and UnicodeError for what no browser can be sent."""
    (_, heads, size), entry = atlas.shape, AtlasEntry(Source(atlas))
    tokens = tile_tokens(atlas, None)
    for colour in offered_colourings(atlas):
        for stage in atlas.points:
            screen = Screen(entry, atlas, 0, 0, "PCA", stage, colour)
            tones = point_tones(atlas, colour).numbers
            of_heads = tones.reshape(-1, 2 * size) if tones.ndim > 1 else tones
            points, shown = tile_points(atlas, stage, tokens), token_data(screen, tokens)
            rows: Any = {"layer_labels": atlas.layer_labels, "across": heads}
            AtlasCloud(points=points, tones=of_heads, **rows, **shown).packed()
            one = tones[0, 0] if tones.ndim > 1 else tones
            points = atlas.points[stage][0, 0, :, :2]
            cloud = Clouds(panels=[Panel(atlas.model, (), points, one)], pinned=0, **shown)
            points_page(cloud, f"{screen.name} of {atlas.model}", "").encode()
    for kept in atlas.faithfulness.values():
        for values in (kept.correlation, kept.top1):
            head_map(values, place_layers(atlas), "", palette("light"), bounds=(-1, 1)).to_json()
    for kind in MATCH_KINDS:
        search_tokens(atlas, "a", kind)
    kept = atlas.faithfulness["raw"]
    said = [
        wording.faithfulness_note(float(kept.correlation[0, 0]), float(kept.top1[0, 0])),
        opening.describe_atlas(entry),
        *(f"{share.sum():.2f}" for shares in atlas.shares.values() for share in shares[0]),
        *(*atlas.sentences, *atlas.labels, *atlas.tokens.displays, *atlas.tokens.texts),
    ]
    "".join(said).encode()
    assert not any("nan" in text for text in said[: -4 * len(atlas.tokens)])
