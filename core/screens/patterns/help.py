"""Examples that set the patterns page's controls, and the mathematics behind it."""

from __future__ import annotations

from core.analysis.coreference.grouped import RESAMPLES
from core.analysis.corpus.sample import marked_sets
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
_LEAVES = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


def examples(view: View) -> list[Preset]:
    """Settings worth seeing with this kind of attention."""
    of_kind = {"text": _of_texts, "cross": _of_keys, "image": _of_patches}[_kind(view.trace)]
    twins = Preset("Twins", _words("twins", head=view.name), {"part": "alike"})
    every = [*of_kind(view), twins]
    return every if reads_corpora(view.trace) else [each for each in every if not _reads(each)]


def _reads(preset: Preset) -> bool:
    """Whether a preset is about a corpus, or two sentences: none of that is for a decoder."""
    state = preset.state
    return state.get("source") == "corpus" or "marked" in state or "two" in state


def _rollout_of_all() -> Preset:
    state = {"part": "one", "source": "text", "whole": "rollout", "beside": "self"}
    return Preset("Everything at once", _words("everything_at_once"), state)


def _of_keys(view: View) -> list[Preset]:
    """Of cross attention."""
    presets = [_resting(view)]
    if view.table["sep"].notna().any():
        presets.append(_strongest(view, "sep", "Resting on the end"))
    state = {"part": "one", "whole": "mean", "beside": "broad"}
    return [*presets, Preset("All heads at once", _words("all_heads"), state)]


def _of_patches(view: View) -> list[Preset]:
    broad = _strongest(view, "broad", "The whole image")
    return [_looking_back(view), _resting(view), broad, _rollout_of_all()]


def _of_texts(view: View) -> list[Preset]:
    return [
        _looking_back(view),
        _resting(view),
        Preset(
            "One text is little",
            _words("on_corpus"),
            {"part": "heads", "source": "corpus", "score": "class"},
        ),
        Preset(
            "Across two sentences",
            _words("two_sentences"),
            {"part": "heads", "source": "text", "score": "other_sentence", "two": True, **_LEAVES},
        ),
        _rollout_of_all(),
        Preset("What “it” refers to", _words("pronouns"), {"part": "pronouns", "marked": "pairs"}),
    ]


def _looking_back(view: View) -> Preset:
    return _strongest(view, "previous", f"Looking {view.trace.input.back}")


def _resting(view: View) -> Preset:
    return _strongest(view, "first", "Resting on the first token")


def _strongest(view: View, pattern: str, title: str) -> Preset:
    """The head with the highest score, beside the pattern."""
    score = NAMING[pattern].score
    number_of_head = int(view.table[score].fillna(-1).to_numpy().argmax())
    layer, head = divmod(number_of_head, view.trace.shape[1])
    sentence = _words(
        "strongest",
        head=head_name(view.trace, layer, head),
        pattern=pattern,
        share=number(float(view.table[score].iloc[number_of_head])),
        previous=view.trace.input.previous,
        first=view.trace.input.first,
    )
    return Preset(
        title,
        sentence,
        {
            "part": "one",
            "whole": "head",
            "beside": pattern,
            "layer": str(view.trace.layer_labels[layer]),
            "head": str(head + 1),
        },
    )


def mathematics(trace: Trace) -> str:
    """The definitions, and where they come from, of what this kind of attention has."""
    names = pattern_names(trace)
    pairs, sample = (len(sentences) for sentences in marked_sets().values())
    return _words(
        "mathematics",
        kind=_kind(trace),
        named=", ".join(names[name] for name, each in NAMING.items() if has_meaning(trace, each)),
        least=MIN_QUERY_TOKENS,
        short=MIN_TOKENS,
        pairs=pairs,
        sample=sample,
        resamples=f"{RESAMPLES:,}",
    )


def _kind(trace: Trace) -> str:
    """Only a text has nouns, keys of two texts no neighbours, patches no thresholds of theirs."""
    return trace.input.kind
