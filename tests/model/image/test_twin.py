"""The untrained twin of a vision model: the same architecture with fresh weights."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

from core.model import load, trace_image, untrained_twin
from tests.model.image.families import FAMILIES, build, image

if TYPE_CHECKING:
    from pathlib import Path


def test_a_twin_is_gone_once_nobody_holds_it(tmp_path: Path) -> None:
    build(FAMILIES["vit"], tmp_path)
    model = load(str(tmp_path), modality="image")
    twin = untrained_twin(model)
    trace = trace_image(twin, image())
    network = weakref.ref(twin.network)
    del twin
    gc.collect()
    assert network() is None
    assert trace.shape[0] == model.layers
