"""Numbers and text as bytes, which is how a component receives numbers without JSON.

Layout, read by ``shared/packed.js``: the length of the header (uint32, little-endian); the header,
JSON in UTF-8, padded with spaces; the arrays, little-endian; each part padded to a multiple of 4
bytes. The header's ``arrays`` holds their names, kinds and lengths.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNMENT = 4  # bytes of a float32
_KINDS = {np.dtype(np.uint8): "u1", np.dtype("<u2"): "u2"}


def pack(settings: dict[str, Any], **arrays: NDArray[Any]) -> bytes:
    """Settings (JSON values) and arrays (any shape, row by row) as bytes.

    Arrays of uint8 and uint16 stay as they are, all others become float32.
    """
    flat = {name: _flat(array) for name, array in arrays.items()}
    kinds = {name: [_KINDS.get(array.dtype, "f4"), array.size] for name, array in flat.items()}
    header = _padded(json.dumps({**settings, "arrays": kinds}, ensure_ascii=False).encode(), b" ")
    parts = [len(header).to_bytes(_ALIGNMENT, "little"), header]
    return b"".join([*parts, *(_padded(array.tobytes(), b"\0") for array in flat.values())])


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    kind = array.dtype if array.dtype in _KINDS else "<f4"
    return np.ascontiguousarray(array, dtype=kind).ravel()


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % _ALIGNMENT)
