"""Numbers and text as bytes, so that components receive numbers without JSON.

Layout, read by ``shared/packed.js``: the length of the header (uint32, little-endian); the header,
JSON in UTF-8, padded with spaces; the arrays, little-endian; each part padded to a multiple of 4
bytes. The header's ``arrays`` holds their names, kinds and lengths.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.attention_table import side_of
from core.model.trace import Patches, Token, Trace

if TYPE_CHECKING:
    from core.analysis.layer_payload import LayerPayload

_ALIGNMENT = 4  # bytes of a float32
# The image sent to views: pixels per side of a patch (drawn at half that), pixels of the image's
# longer side (at most 100 kB), JPEG quality in per cent.
_SIDE, _MAX_SIDE, _QUALITY = 32, 768, 88
_STEPS = 65535  # per side of a frame: a uint16 for each coordinate
_UNKNOWN = -1.0  # in place of half a side, if a head's points are not all finite
_KINDS = {np.dtype(np.uint8): "u1", np.dtype("<u2"): "u2"}


def pack(settings: dict[str, Any], **arrays: NDArray[Any]) -> bytes:
    """Settings (JSON values) and arrays (any shape, in row-major order) as bytes.

    Arrays of uint8 and uint16 stay as they are; all others become float32.
    """
    flat = {name: _flat(array) for name, array in arrays.items()}
    kinds = {name: [_KINDS.get(array.dtype, "f4"), array.size] for name, array in flat.items()}
    header = _padded(json.dumps({**settings, "arrays": kinds}, ensure_ascii=False).encode(), b" ")
    parts = [len(header).to_bytes(_ALIGNMENT, "little"), header]
    return b"".join([*parts, *(_padded(array.tobytes(), b"\0") for array in flat.values())])


def pack_layers(
    settings: dict[str, Any], layers: Mapping[int, LayerPayload], **arrays: NDArray[Any]
) -> bytes:
    """Like :func:`pack`, with layers (by index, from 0) as ``shared/layer.js`` reads them."""
    facts: dict[str, dict[str, float | None]] = {}
    for index, layer in layers.items():
        parts = vars(layer)
        facts[str(index)] = {name: parts[name] for name in ("scaling", "softcap", "top")}
        arrays |= {
            f"{name}{index}": part for name, part in parts.items() if isinstance(part, np.ndarray)
        }
    return pack({**settings, "layers": facts}, **arrays)


def sides_of(tokens: Sequence[Token], source: Sequence[Token] | None = None) -> dict[str, Any]:
    """Query tokens, and key tokens if they are others, as ``shared/sentences.js`` reads them."""
    return {"queries": vars(side_of(tokens)), "keys": source and vars(side_of(source))}


def stamp_of(trace: Trace) -> str:
    """A hash of input, model and attention type: the browser keeps layers only while it matches."""
    sides = [trace.tokens] if trace.source is None else [trace.tokens, trace.source]
    ids = [[(token.id, token.display, token.segment) for token in side] for side in sides]
    attention_types = () if trace.attention_type == "self" else (trace.attention_type,)
    digest = hashlib.sha256(repr((trace.model, trace.shape, *ids, *attention_types)).encode())
    if trace.patches is not None:  # patch tokens have the same names in all images
        digest.update(trace.patches.pixels.tobytes())
    return digest.hexdigest()[:16]


def grid_of(patches: Patches) -> dict[str, int]:
    """The grid of an image's patches, as ``shared/photo.js`` reads it."""
    return {name: getattr(patches, name) for name in ("rows", "columns", "size", "first", "count")}


def patch_sprite(trace: Trace) -> dict[str, Any] | None:
    """The image as a small data URL, with the grid of its patches; None for a text."""
    from PIL import Image

    patches = trace.patches
    if patches is None:  # words need no picture beside them
        return None
    side = max(1, min(_SIDE, _MAX_SIDE // max(patches.rows, patches.columns)))
    image = Image.fromarray(patches.pixels).resize((patches.columns * side, patches.rows * side))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=_QUALITY, subsampling=0)
    url = f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
    return {"url": url, **grid_of(patches)}


def quantise_points(points: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Points as whole steps in a square around each head's cloud, so that axes stay equal.

    Parameters
    ----------
    points : (head, point, 2).

    Returns
    -------
    Steps from the frame's lowest corner, of the same shape; and (head, 3): the frame's middle and
    half its side, in units of the points. Half a side is -1 if a point of the head is not finite.
    A point is off by at most half a step, the side / 131070.
    """
    known = np.asarray(np.isfinite(points).all(axis=(1, 2)))
    clean = np.where(known[:, None, None], points, 0)
    low, high = clean.min(axis=1, initial=np.inf), clean.max(axis=1, initial=-np.inf)
    if not points.shape[1]:
        low = high = np.zeros((len(points), 2))
    middle = (low + high) / 2
    half = (high - low).max(axis=1) / 2
    side = np.where(half > 0, 2 * half, 1)
    shares = (clean - middle[:, None]) / side[:, None, None] + 0.5
    steps = np.rint(_STEPS * shares).clip(0, _STEPS).astype(np.uint16)
    frames = np.column_stack([middle, np.where(known, half, _UNKNOWN)])
    return steps, frames.astype(np.float32)


def restore_points(steps: NDArray[np.uint16], frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Undo :func:`quantise_points`, up to rounding: points in the plane, (head, point, 2)."""
    middle, half = frames[:, None, :2], frames[:, None, 2:]
    points: NDArray[np.float32] = middle + half * (2 / _STEPS * steps.astype(np.float32) - 1)
    return points


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    kind = array.dtype if array.dtype in _KINDS else "<f4"
    return np.ascontiguousarray(array, dtype=kind).ravel()


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % _ALIGNMENT)
