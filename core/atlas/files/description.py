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
MAX_BYTES = 2**20  # of the JSON: a hundred settings, numbers of layers, ten thousand files
MAX_HEADS: int = _PROPERTIES["layers"]["maximum"]  # in all layers
MAX_ROWS = 20_000_000  # of the sample, heads times tokens: 1.6 GB of points when opened
MAX_TOKENS = 2_000_000  # of the sample: their texts and places take 200 bytes each when opened
PIXELS = "images.pixels"  # the name of the array of an atlas of images
MAX_PATCH = 64  # side of a patch in pixels; models have up to 32
_COUNTS = ("tokens_cut", "sentences_left_out", *SAMPLED)  # settings that pages add up
_MAX_NAME = 4096  # characters of a model's name, which may be a folder: PATH_MAX on Linux
_MAX_SETTINGS, _MAX_SETTING = 100, 1000  # how many, and the characters of each


class Sizes(NamedTuple):
    """How much of a corpus there is."""

    tokens: int
    sentences: int


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
    sample: Sizes
    search: tuple[Sizes, ...]  # of each file that a search reads
    images: Grid | None


def encode_description(facts: AtlasFacts, sample: Sizes, search: Sequence[Sizes]) -> bytes:
    """``atlas.json`` of an atlas with this sample, and these files that a search reads.

    Raises `AtlasFileError` when it is longer than readers accept, or the sample is too large.
    """
    check_room(facts.heads, sample.tokens)
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
        "sample": list(map(int, sample)),
        "search": [list(map(int, sizes)) for sizes in search],
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
    counts = ("layers", "heads", "tokens", "sentences", "depth", "measured")
    plain: dict[str, Any] = {name: int(fields[name]) for name in counts}
    layers, heads, whole = (
        plain["layers"],
        plain["heads"],
        Sizes(plain["tokens"], plain["sentences"]),
    )
    sample, *search = (Sizes(*map(int, each)) for each in (fields["sample"], *fields["search"]))
    check_room((layers, heads), sample.tokens)
    images = _read_grid(fields.get("images"), whole)
    _check_sizes(whole, sample, search, drawn_whole=images is not None)
    if plain["measured"] > whole.tokens:
        raise AtlasFileError("“measured” counts more tokens than there are.")
    numbers = tuple(map(int, fields["layer_numbers"]))
    ascend = all(before < after for before, after in pairwise((0, *numbers)))
    if len(numbers) != layers or not ascend or numbers[-1] > fields["depth"]:
        raise AtlasFileError("“layer_numbers” are not those of the layers of one model.")
    return Description(
        **plain,
        model=_check_model(fields["model"]),
        causal=fields["causal"],
        labelled=fields["labelled"],
        layer_numbers=numbers,
        settings=_check_settings(fields["settings"]),
        sample=sample,
        search=tuple(search),
        images=images,
    )


def check_room(heads: tuple[int, int], tokens: int) -> None:
    """`AtlasFileError` for so many (layers, heads of each), or so many tokens in the sample."""
    count = heads[0] * heads[1]
    if count > MAX_HEADS:
        raise AtlasFileError(
            f"The atlas is too large to open: it has {count:,} heads, and there is room for"
            f" {MAX_HEADS:,}."
        )
    if count * tokens > MAX_ROWS or tokens > MAX_TOKENS:
        raise AtlasFileError(
            f"The atlas is too large to open: {count:,} heads of {tokens:,} tokens are"
            f" {count * tokens:,} rows, and there is room for {MAX_ROWS:,}."
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


def _check_sizes(whole: Sizes, sample: Sizes, search: list[Sizes], *, drawn_whole: bool) -> None:
    """Whether counts fit each other; images are all in the sample, and texts all in `search`."""
    for each in (whole, sample, *search):
        if each.sentences > each.tokens:
            raise AtlasFileError(
                f"The file contradicts itself: {each.sentences:,} sentences and {each.tokens:,}"
                " tokens."
            )
    if sample.tokens > whole.tokens or sample.sentences > whole.sentences:
        raise AtlasFileError("The sample of the atlas has more tokens than there are.")
    tokens, sentences = (sum(each[i] for each in search) for i in (0, 1))
    if (sample if drawn_whole else (tokens, sentences)) != whole or (drawn_whole and search):
        raise AtlasFileError("“search” is not of all tokens of an atlas of texts.")


def _grid_fields(facts: AtlasFacts) -> dict[str, Any]:
    """The field of an atlas of images; none for texts, whose files stay as they were."""
    if facts.images is None:
        return {}
    _, height, width, _ = facts.images.pixels.shape
    return {"images": [height, width, facts.images.size, facts.images.first]}


def _read_grid(field: object, whole: Sizes) -> Grid | None:
    """The grid in a file of so much; None for an atlas of texts.

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
            fits = height % size == 0 and width % size == 0
            patches = (height // size) * (width // size)
            if fits and (first + patches) * whole.sentences == whole.tokens:
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
