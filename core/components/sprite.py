"""The image of a trace as one small picture, of which views show a patch beside its name."""

from __future__ import annotations

import base64
import io
from typing import Any

from core.components.packing import grid_of
from core.model.trace import Trace

_SIDE = 32  # pixels of a patch in the picture; views draw it with half of that
_MAX_SIDE = 768  # of the picture: 100 kB at most
_QUALITY = 88  # of the JPEG, per cent


def patch_sprite(trace: Trace) -> dict[str, Any] | None:
    """The picture as a data URL, with the rows and columns of its patches; None for a text."""
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
