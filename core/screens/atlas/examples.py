"""What to try on the atlas page."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.drawn import SAMPLE, is_sampled
from core.ui.presets import Preset

_EXAMPLES = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))["example"]


def examples_for(entry: AtlasEntry) -> Sequence[Preset]:
    """Those that make sense for the atlas; of a large one, colours are of its sample."""
    atlas = entry.atlas
    if atlas is None:
        return []
    examples = _written("text" if atlas.images is None else "image", "")
    examples += _written("labels") * bool(atlas.labels)
    if entry.source is not None and is_sampled(entry.source):
        return [*_written("counts"), *map(_of_sample, examples)]
    return examples


def _written(*places: str) -> list[Preset]:
    """The examples of the file that are shown `where` these hold."""
    return [
        Preset(each["title"], each["sentence"], each["state"])
        for each in _EXAMPLES
        if each.get("where", "") in places
    ]


def _of_sample(example: Preset) -> Preset:
    coloured = example.state.get("colour", "type") != "type"
    return replace(example, state={**example.state, "drawn": SAMPLE}) if coloured else example
