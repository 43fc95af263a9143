"""``atlas.json``: what an atlas is, in a few fields that are checked against a schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from core import VERSION
from core.atlas.data import SAMPLED, AtlasFacts
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.texts import well_formed

SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("atlas.schema.json").read_bytes())
_PROPERTIES = SCHEMA["properties"]
FORMAT, FORMAT_VERSION = (_PROPERTIES[name]["const"] for name in ("format", "version"))
INDEX_VERSION = _PROPERTIES["index"]["properties"]["version"]["const"]
MAX_BYTES = 2**20  # of the JSON: a hundred settings, numbers of layers, a hundred thousand parts
MAX_HEADS: int = _PROPERTIES["layers"]["maximum"]  # in all layers
MAX_COUNT: int = _PROPERTIES["tokens"]["maximum"]
MAX_PARTS: int = _PROPERTIES["parts"]["maxItems"]
PIXELS = "images.pixels"  # the name of the array of an atlas of images
MAX_PATCH = 64  # side of a patch in pixels; models have up to 32
_COUNTS = ("tokens_cut", "sentences_left_out", *SAMPLED)  # settings that pages add up
_MAX_NAME = 4096  # characters of a model's name, which may be a folder: PATH_MAX on Linux
_MAX_SETTINGS, _MAX_SETTING = 100, 1000  # how many, and the characters of each


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
    measured: int
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
        "measured": int(facts.measured.tokens),
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
    counts = ("layers", "heads", "tokens", "sentences", "depth")
    plain: dict[str, Any] = {name: fields[name] for name in ("causal", "labelled", "dtype")}
    return Description(
        **(plain | {name: int(fields[name]) for name in counts}),
        model=_check_model(fields["model"]),
        layer_numbers=numbers,
        settings=_check_settings(fields["settings"]),
        measured=int(fields["measured"]),
        parts=parts,
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
    if fields["measured"] > tokens:
        raise AtlasFileError("“measured” counts more tokens than there are.")


def _part(value: object) -> tuple[int, int, int]:
    if isinstance(value, list) and len(value) == 3 and all(type(each) is int for each in value):
        index, tokens, sentences = value
        if 0 <= index < MAX_PARTS and 1 <= sentences <= tokens <= MAX_COUNT:
            return index, tokens, sentences
    raise AtlasFileError("“parts” has an entry that is not a part: number, tokens and sentences.")


def _segments(field: dict[str, Any] | None, parts: int) -> tuple[int, ...]:
    """How many parts each file of a folder has that a search reads."""
    if field is None:
        return ()
    sizes = tuple(field["parts"])
    if not all(type(size) is int and size > 0 for size in sizes) or sum(sizes) != parts:
        raise AtlasFileError("“index” is not of the parts of the atlas.")
    return sizes


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


def _check_model(name: str) -> str:
    """The name of a model; `AtlasFileError` when it is too long, or not text."""
    if len(name) > _MAX_NAME:
        raise AtlasFileError(f"The model's name has {len(name):,} characters.")
    if not name or "\0" in name or name != well_formed(name):
        raise AtlasFileError("The file does not name the model of the atlas.")
    return name


def _check_settings(settings: dict[str, Any]) -> dict[str, str | int]:
    """Settings that pages can show: a few texts, numbers and counts; else `AtlasFileError`."""
    if len(settings) > _MAX_SETTINGS:
        raise AtlasFileError(f"“settings” has {len(settings):,} entries.")
    for name, value in settings.items():
        texts = [text for text in (name, value) if isinstance(text, str)]
        if not isinstance(value, str | int) or (isinstance(value, int) and abs(value) >= 2**53):
            raise AtlasFileError("“settings” has something other than texts and numbers.")
        if any(len(text) > _MAX_SETTING or text != well_formed(text) for text in texts):
            raise AtlasFileError("“settings” has a text that is too long, or not text.")
        if name in _COUNTS and (type(value) is not int or value < 0):
            raise AtlasFileError(f"“{name}” among the settings is not a count.")
    return settings
