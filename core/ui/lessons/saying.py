"""What the strip of a lesson says and asks about the trace on screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.model.trace import Trace, kept
from core.ui.lessons.answers import (
    MEASURES,
    MISTAKES,
    PLACES,
    PREDICATES,
    SAFE,
    Answer,
    Guess,
    NotInTextError,
    Place,
)
from core.ui.lessons.record import read_lesson
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    from core.ui.lessons.record import Ask, Step

Parts = list[list[str]]  # a text and its class: "", "code", "em" or "strong"
_words = Prose(__file__)
_MARKED = re.compile(r"(?<!`)(`+)( ?)(.+?)\2\1(?!`)|\*\*(.+?)\*\*|\*(.+?)\*", re.DOTALL)


def filled_link(step: Step, trace: Trace) -> dict[str, str]:
    """The parameters of the step's link, with what it finds on this text.

    Raises NotInTextError if it finds nothing.
    """
    fields = _found(step, trace)
    return {key: value.format(**fields) for key, value in step.link.items()}


def strip(
    name: str, number: int, trace: Trace | None, screen: Place, own_text: str = ""
) -> dict[str, Any]:
    """What the strip shows at a step of the lesson of that name, for the component.

    `trace` is None on a page that has none. `screen` is the place on screen, for steps that name
    none; `own_text` is the text on screen if it is not the step's.
    """
    lesson = read_lesson(name)
    data = {
        "lesson": name,
        "title": lesson.title,
        "step": number,
        "count": len(lesson.steps),
        "questions": [n for n, each in enumerate(lesson.steps, start=1) if each.ask],
    }
    try:
        if trace is not None:
            return data | _said(trace, name, number, screen, own_text)
        step = lesson.steps[number - 1]
        if step.ask or step.find:
            raise NotInTextError
        return data | {"tell": parts(lesson.words(f"tell_{number}"))}
    except NotInTextError as missing:
        need = quote(str(missing)) if str(missing) else ""
        data |= {"tell": parts(_words("not_here", need=need)), "restart": True}
        if own_text and lesson.steps[number - 1].own:
            own = {"ask": parts(lesson.words(f"own_{number}")), "text": own_text, "done": False}
            data["own"] = own
        return data


@kept
def _said(trace: Trace, name: str, number: int, screen: Place, own_text: str) -> dict[str, Any]:
    lesson = read_lesson(name)
    step, words = lesson.steps[number - 1], lesson.words

    def say(block: str, fields: Mapping[str, object]) -> Parts:
        return parts(words(block, **_quoted(fields)))

    known = _found(step, trace)
    if step.ask is None:
        return {"tell": say(f"tell_{number}", known)}
    its_own = PREDICATES[step.own](trace) if step.own and own_text else None
    answer = answer_of(step, step.ask, trace, screen, its_own or {})
    known = {**known, **{key: answer.fields[key] for key in SAFE if key in answer.fields}}
    data: dict[str, Any] = {"tell": say(f"tell_{number}", {**known, "own": own_text != ""})}
    if answer.lacks:
        data["lacks"] = say(f"lacks_{number}", answer.fields)
    else:
        data |= _question(step.ask, trace, answer)
        data |= {
            "ask": say(f"ask_{number}", known),
            "answer": say(f"answer_{number}", answer.fields),
        }
        data["wrong"] = {
            _key(guess): say(f"wrong_{number}_{name}", _guessed(guess, trace, answer))
            for name, guess in wrong_guesses(step.ask, trace, answer)
        }
        if f"hint_{number}" in words:
            data["hint"] = say(f"hint_{number}", known)
    if step.own:
        own = say(f"own_{number}", known)
        data["own"] = {"ask": own, "text": own_text, "done": bool(own_text) and its_own is not None}
    return data


def answer_of(
    step: Step, ask: Ask, trace: Trace, screen: Place, its_own: Mapping[str, Any] | None = None
) -> Answer:
    """The answer to the step's question; `its_own` are arguments for a text of one's own.

    Raises NotInTextError if the text lacks a word that the question names.
    """
    arguments, link = {**ask.arguments, **(its_own or {})}, filled_link(step, trace)
    layer = arguments.pop("layer", link.get("layer", ""))
    head = arguments.pop("head", link.get("head") or link.get("heads", ""))
    place = Place(
        _index(str(layer), trace.layer_labels, screen.layer),
        _index(str(head), range(1, trace.shape[1] + 1), screen.head),
    )
    return MEASURES[ask.measure](trace, place, **arguments)


def _index(number: str, labels: Sequence[int], otherwise: int | None) -> int | None:
    """The index of a number as people read it; None for a mean, `otherwise` if there is none."""
    if number.isdigit():
        return labels.index(int(number)) if int(number) in labels else otherwise
    return None if number else otherwise


def _found(step: Step, trace: Trace) -> Mapping[str, Any]:
    found = PLACES[step.find](trace) if step.find else {}
    if found is None:
        raise NotInTextError
    return found


def _question(ask: Ask, trace: Trace, answer: Answer) -> dict[str, Any]:
    """What is offered for a guess, and which guesses are right."""
    data: dict[str, Any] = {"kind": ask.kind, "right": [_key(each) for each in answer.right]}
    if ask.kind == "token":
        data["tokens"] = labels_of(trace.key_tokens)
        if answer.row is not None:
            data |= {"query": answer.query, "row": answer.row.tolist()}
    elif ask.kind == "head":
        data |= {"layers": trace.layer_labels, "heads": trace.shape[1]}
    elif ask.kind == "choice":
        data["choices"] = ask.choices
    elif isinstance(value := answer.right[0], int | float):
        data |= {"unit": ask.unit, "tolerance": ask.tolerance_at(value)}
    return data


def _key(guess: Guess) -> str:
    """A guess as the component writes it: layers and heads are joined by a comma."""
    return ",".join(map(str, guess)) if isinstance(guess, tuple) else str(guess)


def wrong_guesses(ask: Ask, trace: Trace, answer: Answer) -> Iterator[tuple[str, Guess]]:
    """Likely wrong guesses, each after the end of its block's name: "neighbour", or "2"."""
    named: list[tuple[str, Guess]] = [(str(n + 1), n) for n in range(len(ask.choices))]
    named += [(name, guess) for name in ask.wrong for guess in MISTAKES[name](trace, answer)]
    return ((name, guess) for name, guess in named if guess not in answer.right)


def _guessed(guess: Guess, trace: Trace, answer: Answer) -> dict[str, object]:
    """The fields of the answer, and of a wrong guess."""
    if isinstance(guess, tuple):
        return {**answer.fields, "guess_name": head_name(trace, *guess)}
    if answer.row is None or not isinstance(guess, int):
        return dict(answer.fields)
    token, weight = trace.key_tokens[guess].display, float(answer.row[guess])
    return {**answer.fields, "guess_token": token, "guess_weight": weight}


def _quoted(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields with tokens and words quoted; several are joined as in a sentence."""
    quoted = dict(fields)
    for name, value in fields.items():
        if isinstance(value, tuple | list):
            quoted[name] = in_a_row([quote(str(each)) for each in value])
        elif isinstance(value, str) and name.endswith(("token", "word")):
            quoted[name] = quote(value)
    return quoted


def parts(markdown: str) -> Parts:
    """The marked parts of a text, for the script: nothing in them is parsed again.

    >>> parts("*It* looks at `book`.")
    [['It', 'em'], [' looks at ', ''], ['book', 'code'], ['.', '']]
    """
    pieces, end = [], 0
    for found in _MARKED.finditer(markdown):
        code, strong, em = found[3], found[4], found[5]
        kind = "code" if code else "strong" if strong else "em"
        pieces += [[markdown[end : found.start()], ""], [code or strong or em, kind]]
        end = found.end()
    return [piece for piece in [*pieces, [markdown[end:], ""]] if piece[0]]
