"""Examples that need no measuring, as ``examples.toml`` beside a screen has them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from core.ui.presets import Preset


def written(module: str, *places: str, **fields: object) -> list[Preset]:
    """The examples beside a module that are shown `where` one of these holds, in their order.

    One that does not say where is shown at ""; `fields` fill what it sets.
    """
    return [
        Preset(
            each["title"],
            each["sentence"],
            {
                key: value.format(**fields) if isinstance(value, str) else value
                for key, value in each["state"].items()
            },
        )
        for each in _read(Path(module).with_name("examples.toml"))
        if each.get("where", "") in places
    ]


@cache
def _read(path: Path) -> list[dict[str, Any]]:
    examples: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["example"]
    return examples
