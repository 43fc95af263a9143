"""What to try on the atlas page."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.screens.atlas.corpus.entry import AtlasEntry
from core.screens.atlas.drawn import SAMPLE, is_sampled
from core.screens.atlas.meeting import DEFAULT_WORDS, strongest_head
from core.ui.presets import Preset
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_words = Prose(__file__)
_EXAMPLES = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))["example"]


def examples_for(entry: AtlasEntry) -> Sequence[Preset]:
    """Those that make sense for the atlas; of a large one, colours are of its sample."""
    atlas = entry.atlas
    if atlas is None:
        return []
    examples = _written("text" if atlas.images is None else "image", "")
    if (verb := _verb_and_subject(entry)) is not None:
        examples.insert(3, verb)
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


def _verb_and_subject(entry: AtlasEntry) -> Preset | None:
    """From “was” to “it” in the head that attends so most; None where no head does much."""
    found = strongest_head(entry)
    if found is None or entry.atlas is None:
        return None
    meeting, (layer, head) = found
    verb, subject = DEFAULT_WORDS
    sentence = _words(
        "verb_and_subject",
        head=head_name(entry.atlas, layer, head),
        verb=verb,
        subject=subject,
        weight=meeting.mean[layer, head],
        uniform=meeting.uniform_baseline[layer, head],
        count=len(meeting.sentences),
        adjacent=meeting.adjacent,
    )
    place = {"layer": str(entry.atlas.layer_labels[layer]), "head": str(head + 1)}
    state = {"part": "words", "first": verb, "second": subject, **place}
    return Preset("From a verb to its subject", sentence, state)


def _of_sample(example: Preset) -> Preset:
    coloured = example.state.get("colour", "type") != "type"
    return replace(example, state={**example.state, "drawn": SAMPLE}) if coloured else example
