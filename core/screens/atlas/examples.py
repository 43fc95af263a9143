"""What to try on the atlas page."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from core.screens.atlas.corpus.entry import AtlasEntry
from core.ui.presets import Preset

_EXAMPLES = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))["example"]


def examples_for(entry: AtlasEntry) -> Sequence[Preset]:
    """Those of the file that make sense for the atlas."""
    atlas = entry.atlas
    places = {"", "text" if atlas.images is None else "image", *["labels"] * bool(atlas.labels)}
    return [
        Preset(each["title"], each["sentence"], each["state"])
        for each in _EXAMPLES
        if each.get("where", "") in places
    ]
