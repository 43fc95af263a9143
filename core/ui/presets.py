"""Settings worth trying, above the picture of every page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.head_patterns.search import find_heads
from core.analysis.strongest_link import strongest_link
from core.ui import controls
from core.ui.cache import remembered
from core.ui.current import current_key
from core.ui.frame.layout import drawer
from core.ui.words.messages import quote
from core.ui.words.numbers import number
from core.ui.words.pages import opened
from core.ui.words.pattern_words import words_for
from core.vocabulary import head_name, labels_of, percent

if TYPE_CHECKING:
    from core.model import Trace

# Fields for sentences and settings, with numbers as people read them: `layer`, `head`, its `name`,
# a `share` (also as `percent`), and for a pair `query` and `key` with the tokens there.
Fields = dict[str, Any]


def _head(trace: Trace, layer: int, head: int, share: float) -> Fields:
    place = {"layer": trace.layer_labels[layer], "head": head + 1}
    return place | {
        "name": head_name(trace, layer, head),
        "share": share,
        "percent": percent(share),
    }


def _pair(trace: Trace, query: int, key: int) -> Fields:
    tokens = {"query": trace.tokens, "key": trace.key_tokens}
    places = {"query": query, "key": key}
    named = {f"{side}_token": quote(labels_of(tokens[side])[i]) for side, i in places.items()}
    return {side: i + 1 for side, i in places.items()} | named


def _link(trace: Trace, layers: Sequence[int] | None = None) -> Fields | None:
    """The strongest link between two words, in these layers or in all."""
    link = strongest_link(trace, layers)
    if link is None:
        return None
    return _head(trace, link.layer, link.head, link.weight) | _pair(trace, link.query, link.key)


def _lowest_score(trace: Trace) -> Fields | None:
    """The lowest-scoring permitted key in the row of the strongest link."""
    from core.analysis.neuron import read_head

    link = strongest_link(trace)
    if link is None:
        return None
    scores = read_head(trace, link.layer, link.head).scores(link.query)
    key = int(np.where(np.isfinite(scores), scores, np.inf).argmin())
    head = _head(trace, link.layer, link.head, float(scores[key]))
    return head | _pair(trace, link.query, key) | {"score": number(scores[key])}


def _previous(trace: Trace) -> Fields | None:
    """The head that attends most to the previous token, at its strongest pair."""
    if not (trace.input.beside(-1).any() and (ranked := find_heads(trace, "previous").ranked())):
        return None
    layer, head, mean = ranked[0]
    # The first pair is left out: in causal models it has few keys to choose from.
    back = np.diagonal(trace.attention(layer, head) * trace.input.beside(-1), -1)
    query = int(back[1:].argmax()) + 2 if len(back) > 1 else 1
    return _head(trace, layer, head, mean) | _pair(trace, query, query - 1)


def _resting_layer(trace: Trace) -> Fields | None:
    """The layer that attends most to special tokens and punctuation."""
    if not trace.input.specials:
        return None
    resting = find_heads(trace, "delimiters").scores.mean(axis=1)  # (layer,)
    layer = int(resting.argmax())
    return {"layer": trace.layer_labels[layer], "percent": percent(resting[layer])}


def _most(mark: str) -> Callable[[Trace], Fields | None]:
    """A function that finds the head with the largest value of one of the quick image marks."""

    def find(trace: Trace) -> Fields | None:
        from core.analysis.images.marks import head_marks

        scores = getattr(head_marks(trace), mark)
        if scores is None:
            return None
        layer, head = map(int, np.unravel_index(int(scores.argmax()), scores.shape))
        return _head(trace, layer, head, scores[layer, head])

    return find


# By their names in records: functions that give the fields, or None if the text has none.
FIND: Mapping[str, Callable[[Trace], Fields | None]] = {
    "nothing": lambda _: {},
    "strongest link": _link,
    "link of the middle layer": lambda trace: _link(trace, (trace.shape[0] // 2,)),
    "lowest score": _lowest_score,
    "previous": _previous,
    "resting layer": _resting_layer,
    "colour": _most("colour"),
    "itself": _most("itself"),
    "cls": _most("cls"),
}
_MADE = "_examples_made"


@dataclass(frozen=True)
class Preset:
    """Values for the controls, and a sentence (Markdown) that says what they show.

    Controls that `state` does not name are reset, if the page's record says so.
    """

    title: str
    sentence: str
    state: Mapping[str, str | int | list[int]]  # a switch is a bool


def show(make: Callable[[], Sequence[Preset]], *, measured_on: Hashable | None = None) -> None:
    """Draw a row of chips; each sets the page's controls for the next run.

    They are directly above the picture, so that the change is visible: all behind "Try", and next
    to it as many as fit in one line. `make` measures the text to find what is worth showing, only
    once per `measured_on`, if that is given.
    """
    if st.session_state.get("lesson"):  # which has its own steps
        return
    page = opened().name
    presets = make() if measured_on is None else remembered(_MADE, (page, measured_on), make)
    with drawer().container(key="example_chips", horizontal=True, vertical_alignment="center"):
        with st.popover("Try", help="All examples"):
            _draw(f"{page}_preset_all", presets)
        _draw(f"{page}_preset", presets)


def show_for(trace: Trace) -> None:
    """Draw the examples of the page's record, with what they find on this text or image."""
    show(partial(_of_record, trace), measured_on=current_key(trace.model))


def _of_record(trace: Trace) -> list[Preset]:
    """The examples that apply here, in the order of the record."""
    labels, rest = trace.layer_labels, words_for(trace)["delimiter"].where
    of_text = {"input": trace.input, "rest": rest, "first": labels[0], "last": labels[-1]}
    of_text |= {name: getattr(trace.input, name).capitalize() for name in ("previous", "back")}
    presets = []
    for example in opened().examples:
        if trace.input.kind not in example.get("kinds", (trace.input.kind,)):
            continue
        match = FIND[example.get("find", "nothing")](trace)
        own, needed = example.get("state", {}), example.get("need")
        if match is None or (needed and own[needed] not in controls.declared()[needed].allowed):
            continue
        fields = {**of_text, "heads": trace.shape[1], **match}
        title, sentence = (example[each].format(**fields) for each in ("title", "sentence"))
        place = {key: str(match[key]) for key in ("layer", "head") if key in match}
        state = place | {key: _filled(value, fields) for key, value in own.items()}
        presets.append(Preset(title, sentence, state))
    return presets


def _filled(value: Any, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of a control
    """A setting with its fields filled; a list holds numbers of tokens or heads."""
    if isinstance(value, list):
        return [int(_filled(each, fields)) for each in value]
    return value.format(**fields) if isinstance(value, str) else value


def _draw(key: str, presets: Sequence[Preset]) -> None:
    for index, preset in enumerate(presets):
        st.button(
            preset.title,
            key=f"{key}_{index}",
            help=preset.sentence,
            on_click=_set,
            args=(preset,),
        )


def _set(preset: Preset) -> None:
    initial = controls.initial_values()
    controls.pick(**{**initial, **preset.state})
    controls.follow(initial.keys() - preset.state.keys())
