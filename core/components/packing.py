"""Numbers and text in one run of bytes, which is how a component receives numbers without JSON.

Layout, read by ``shared/packed.js``: the length of the header (uint32, little-endian); the header,
JSON in UTF-8, padded with spaces so that what follows starts at a multiple of 4; the arrays one
after the other, float32, little-endian. The header's ``arrays`` names them with their lengths.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNMENT = 4  # bytes of a float32


def pack(settings: dict[str, Any], **arrays: NDArray[np.floating[Any]]) -> bytes:
    """Settings (JSON values) and float arrays (any shape, sent row by row) as bytes."""
    flat = {
        name: np.ascontiguousarray(array, dtype="<f4").ravel() for name, array in arrays.items()
    }
    lengths = {name: array.size for name, array in flat.items()}
    header = json.dumps({**settings, "arrays": lengths}, ensure_ascii=False).encode()
    header += b" " * (-len(header) % _ALIGNMENT)
    parts = [len(header).to_bytes(_ALIGNMENT, "little"), header]
    return b"".join([*parts, *(array.tobytes() for array in flat.values())])
