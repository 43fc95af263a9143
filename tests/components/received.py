"""What a component receives, read by the rule that core/components/packing.py states."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

_KINDS = {"u1": "u1", "u2": "<u2", "f4": "<f4"}


def received(data: bytes) -> dict[str, Any]:
    """Settings and flat arrays by name."""
    length = int.from_bytes(data[:4], "little")
    settings: dict[str, Any] = json.loads(data[4 : 4 + length])
    offset = 4 + length
    for name, (kind, size) in settings.pop("arrays").items():
        assert offset % 4 == 0
        settings[name] = np.frombuffer(data, _KINDS[kind], size, offset)
        offset += -(-settings[name].nbytes // 4) * 4
    assert offset == len(data)
    return settings
