"""``atlas.json``: what an atlas is, in a few fields that are checked against a schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from core import VERSION
from core.atlas.data import AtlasFacts
from core.atlas.files.checks import check_model, check_settings
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.texts import well_formed

FORMAT, FORMAT_VERSION = "headscope-atlas", 1
INDEX_VERSION = 1  # of the files that a search reads
MAX_BYTES = (
    2**20
)  # of the JSON: a hundred settings, the numbers of layers, a hundred thousand parts
MAX_HEADS = 2048  # in all layers; more would fill 32 MB with their distances
MAX_DEPTH = 4096  # layers of a model, those that do not attend included
MAX_POSITIONS = 32  # in the view by position
MAX_PARTS = 100_000
PIXELS = "images.pixels"  # the name of the array of an atlas of images
MAX_PATCH = 64  # side of a patch in pixels; models have up to 32
_MAX_COUNT = 2**53
_COUNT = {"type": "integer", "minimum": 0, "maximum": _MAX_COUNT}
_SOME = {"type": "integer", "minimum": 1, "maximum": _MAX_COUNT}
_PAIR = {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A Headscope atlas",
    "type": "object",
    "required": [
        *("format", "version", "model", "causal", "layers", "heads", "tokens", "sentences"),
        *("labelled", "layer_numbers", "depth", "settings", "measured", "compared", "positions"),
        *("parts", "dtype"),
    ],
    "properties": {
        "format": {"const": FORMAT},
        "version": {"const": FORMAT_VERSION},
        "made_by": {"type": "string", "maxLength": 100},
        "model": {"type": "string"},
        "causal": {"type": "boolean"},
        "layers": {"type": "integer", "minimum": 1, "maximum": MAX_HEADS},
        "heads": {"type": "integer", "minimum": 1, "maximum": MAX_HEADS},  # of a layer
        "tokens": _SOME,  # of the corpus
        "sentences": _SOME,
        "labelled": {"type": "boolean"},
        "layer_numbers": {  # as people read them
            "type": "array",
            "maxItems": MAX_HEADS,
            "items": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH},
        },
        "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH},  # layers of the model
        "settings": {"type": "object"},
        "measured": _PAIR,  # tokens and sentences that faithfulness was measured on
        "compared": _PAIR,  # tokens on which heads were compared, out of how many
        "positions": {"type": "integer", "minimum": 1, "maximum": MAX_POSITIONS},
        # Number, tokens and sentences of each part that is here; checked one by one below, as a
        # hundred thousand take seconds here.
        "parts": {"type": "array", "minItems": 1, "maxItems": MAX_PARTS},
        "dtype": {"enum": ["float32", "float16"]},  # of points and norms
        # Of a folder: version of the files that a search reads, how many parts each of them has.
        "index": {
            "type": "object",
            "required": ["version", "parts"],
            "properties": {
                "version": {"const": INDEX_VERSION},
                "parts": {"type": "array", "minItems": 1, "maxItems": MAX_PARTS},
            },
        },
        "images": {"type": "array", "items": _COUNT, "minItems": 4, "maxItems": 4},
    },
}


class Grid(NamedTuple):
    """How the images of an atlas are cut."""

    shape: tuple[int, int, int]  # of an image: height, width, 3
    size: int  # side of a patch in pixels
    first: int  # a first patch's place among the tokens of its image


@dataclass(frozen=True)
class Description:
    """The fields of ``atlas.json``, as in its schema."""

    model: str
    causal: bool
    layers: int
    heads: int
    tokens: int
    sentences: int
    labelled: bool
    layer_numbers: tuple[int, ...]
    depth: int
    settings: dict[str, str | int]
    measured: tuple[int, int]
    compared: tuple[int, int]
    positions: int
    parts: tuple[tuple[int, int, int], ...]
    dtype: str
    segments: tuple[int, ...]  # of a folder: how many parts each file that a search reads has
    images: Grid | None


def encode_description(
    facts: AtlasFacts,
    parts: Sequence[tuple[int, int, int]],
    dtype: str = "float32",
    segments: Sequence[int] = (),
) -> bytes:
    """``atlas.json`` of an atlas with these parts (number, tokens, sentences).

    `segments` are how many parts each file of a folder has that a search reads.
    Raises `AtlasFileError` when it is longer than readers accept.
    """
    layers, heads = facts.heads
    fields = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_by": f"Headscope {VERSION}",
        "model": well_formed(facts.model),
        "causal": bool(facts.causal),
        "layers": layers,
        "heads": heads,
        "tokens": int(facts.tokens),
        "sentences": int(facts.sentences),
        "labelled": bool(facts.labelled),
        "layer_numbers": list(facts.layer_labels),
        "depth": max(facts.depth or 0, facts.layer_labels[-1]),
        "settings": {
            well_formed(key): well_formed(value) if isinstance(value, str) else int(value)
            for key, value in facts.settings.items()
        },
        "measured": [int(facts.measured.tokens), int(facts.measured.sentences)],
        "compared": [int(facts.distances.compared), int(facts.distances.tokens)],
        "positions": facts.positions.counts.shape[0],
        "parts": [list(map(int, part)) for part in parts],
        "dtype": dtype,
        **({"index": {"version": INDEX_VERSION, "parts": list(segments)}} if segments else {}),
        **_grid_fields(facts),
    }
    raw = json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    if len(raw) > MAX_BYTES:
        raise AtlasFileError(
            f"The settings of the atlas take {len(raw):,} bytes; the limit is {MAX_BYTES:,}."
        )
    return raw


def decode_description(raw: bytes) -> Description:
    """What :func:`encode_description` wrote; `AtlasFileError` where it contradicts itself."""
    fields = _parsed(raw)
    layers, heads, tokens = (int(fields[name]) for name in ("layers", "heads", "tokens"))
    if layers * heads > MAX_HEADS:
        raise AtlasFileError(
            f"The atlas is too large to open: it has {layers * heads:,} heads, and there is room"
            f" for {MAX_HEADS:,}."
        )
    parts = tuple(map(_part, fields["parts"]))
    _check_counts(fields, parts)
    numbers = tuple(map(int, fields["layer_numbers"]))
    ascend = all(before < after for before, after in pairwise((0, *numbers)))
    if len(numbers) != layers or not ascend or numbers[-1] > fields["depth"]:
        raise AtlasFileError("“layer_numbers” are not those of the layers of one model.")
    return Description(
        model=check_model(fields["model"]),
        causal=fields["causal"],
        layers=layers,
        heads=heads,
        tokens=tokens,
        sentences=int(fields["sentences"]),
        labelled=fields["labelled"],
        layer_numbers=numbers,
        depth=int(fields["depth"]),
        settings=check_settings(fields["settings"]),
        measured=_pair(fields["measured"]),
        compared=_pair(fields["compared"]),
        positions=int(fields["positions"]),
        parts=parts,
        dtype=fields["dtype"],
        segments=_segments(fields.get("index"), len(parts)),
        images=_read_grid(fields.get("images"), tokens, int(fields["sentences"])),
    )


def _parsed(raw: bytes) -> dict[str, Any]:
    """The JSON object, which fits the schema."""
    if len(raw) > MAX_BYTES:
        raise AtlasFileError(
            f"The file's description of itself has {len(raw) / 1e6:.1f} MB; the limit is"
            f" {MAX_BYTES / 1e6:.0f} MB."
        )
    try:
        fields = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise AtlasFileError("The file's description of itself is damaged.") from error
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise AtlasFileError("The file does not describe itself as an atlas.")
    if (version := fields.get("version")) != FORMAT_VERSION or isinstance(version, bool):
        raise AtlasFileError(
            f"The file has version {str(version)[:20]!r} of the format; this program opens version"
            f" {FORMAT_VERSION}: build the atlas again."
        )
    _check_schema(fields)
    return fields


def _check_schema(fields: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(SCHEMA).iter_errors(fields)), None)
    if error is not None:
        # The name only: the value may be anything, of any length.
        name = error.absolute_path[0] if error.absolute_path else _missing(fields)
        raise AtlasFileError(f"The file lacks “{name}”, or it is of the wrong kind.")


def _missing(fields: dict[str, Any]) -> str:
    """The first field that is missing."""
    return str(next(name for name in SCHEMA["required"] if name not in fields))


def _check_counts(fields: dict[str, Any], parts: tuple[tuple[int, int, int], ...]) -> None:
    """Whether counts fit each other."""
    tokens, sentences = fields["tokens"], fields["sentences"]
    if sentences > tokens:
        raise AtlasFileError(
            f"The file contradicts itself: {sentences:,} sentences and {tokens:,} tokens."
        )
    if any(before[0] >= after[0] for before, after in pairwise(parts)):
        raise AtlasFileError("The parts of the atlas are not in order.")
    held = sum(size for _, size, _ in parts), sum(count for *_, count in parts)
    if held[0] > tokens or held[1] > sentences:
        raise AtlasFileError("The parts of the atlas have more tokens than there are.")
    if fields["measured"][0] > tokens or fields["measured"][1] > sentences:
        raise AtlasFileError("“measured” counts more tokens or sentences than there are.")
    if fields["compared"][0] > fields["compared"][1]:
        raise AtlasFileError("The distances between heads are of more tokens than there are.")


def _part(value: object) -> tuple[int, int, int]:
    if isinstance(value, list) and len(value) == 3 and all(type(each) is int for each in value):
        index, tokens, sentences = value
        if 0 <= index < MAX_PARTS and 1 <= sentences <= tokens <= _MAX_COUNT:
            return index, tokens, sentences
    raise AtlasFileError("“parts” has an entry that is no part: number, tokens and sentences.")


def _segments(field: dict[str, Any] | None, parts: int) -> tuple[int, ...]:
    """How many parts each file of a folder has that a search reads."""
    if field is None:
        return ()
    sizes = tuple(field["parts"])
    if not all(type(size) is int and size > 0 for size in sizes) or sum(sizes) != parts:
        raise AtlasFileError("“index” is not of the parts of the atlas.")
    return sizes


def _pair(values: list[int]) -> tuple[int, int]:
    first, second = map(int, values)
    return first, second


def _grid_fields(facts: AtlasFacts) -> dict[str, Any]:
    """The field of an atlas of images; none for texts, whose files stay as they were."""
    if facts.images is None:
        return {}
    _, height, width, _ = facts.images.pixels.shape
    return {"images": [height, width, facts.images.size, facts.images.first]}


def _read_grid(field: object, tokens: int, images: int) -> Grid | None:
    """The grid in a file of that many tokens and images; None for an atlas of texts.

    Raises
    ------
    AtlasFileError
        When it is no grid that the tokens fill, or its patches are larger than any model's.
    """
    if field is None:
        return None
    if isinstance(field, list) and len(field) == 4 and all(type(each) is int for each in field):
        height, width, size, first = field
        if 0 < size <= MAX_PATCH and min(height, width) > 0 <= first:
            whole = height % size == 0 and width % size == 0
            patches = (height // size) * (width // size)
            if whole and (first + patches) * images == tokens:
                return Grid((height, width, 3), size, first)
    raise AtlasFileError("“images” describes a grid that the tokens of the file do not fill.")
