"""Examples that set the patterns page's controls, and the mathematics behind it."""

from __future__ import annotations

from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING
from core.analysis.head_patterns.registry import MIN_QUERY_TOKENS
from core.model import Trace
from core.screens.patterns.view import View
from core.ui.corpus_walk import reads_corpora
from core.ui.presets import Preset
from core.ui.words.numbers import number
from core.ui.words.pattern_words import has_meaning, pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_words = Prose(__file__)


def examples(view: View) -> list[Preset]:
    """Settings worth seeing with this kind of attention."""
    presets = []
    if view.trace.source is None:  # else no token is previous
        presets.append(_strongest(view, "previous", f"Looking {view.trace.input.back}"))
    presets.append(_strongest(view, "first", "Resting on the first token"))
    if reads_corpora(view.trace):
        state = {"part": "heads", "source": "corpus", "score": "class"}
        presets.append(Preset("Short texts mislead", _words("short_texts"), state))
    return presets


def _strongest(view: View, pattern: str, title: str) -> Preset:
    """The head with the highest score."""
    score = NAMING[pattern].score
    number_of_head = int(view.table[score].fillna(-1).to_numpy().argmax())
    layer, head = divmod(number_of_head, view.trace.shape[1])
    sentence = _words(
        "strongest",
        head=head_name(view.trace, layer, head),
        share=number(float(view.table[score].iloc[number_of_head])),
        where=getattr(view.trace.input, pattern),
    )
    return Preset(
        title,
        sentence,
        {
            "part": "one",
            "whole": "head",
            "layer": str(view.trace.layer_labels[layer]),
            "head": str(head + 1),
        },
    )


def mathematics(trace: Trace) -> str:
    """The definitions, and where they come from, of what this kind of attention has."""
    names = pattern_names(trace)
    return _words(
        "mathematics",
        named=", ".join(
            f"{names[name]} ({each.threshold:g})"
            for name, each in NAMING.items()
            if has_meaning(trace, each)
        ),
        least=MIN_QUERY_TOKENS,
        short=MIN_TOKENS,
    )
