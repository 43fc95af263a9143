"""What a visitor of a class changes: layer, head, a switch, the text, in words of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from tests.components.received import received
from tests.tools.bench.extent import few
from tests.tools.bench.texts import sentence_of

if TYPE_CHECKING:
    from tests.tools.visitors import Visitor
    from tests.tools.visitors.elements import Element

# One a visitor: a word that no page, model card or corpus of the project holds, and one token of
# the bundled model, so that it shows whole in every picture of a text.
WORDS = """
    falcon panther dolphin penguin lobster gorilla buffalo cobra leopard turtle squirrel
    beaver eagle raven butterfly shark whale oyster trout bison moose jaguar donkey hound
    trumpet clarinet flute accordion banjo granite basalt nickel cobalt titanium uranium
    helium hydrogen oxygen nitrogen sulfur
""".split()  # noqa: SIM905 - forty lines otherwise
_ANY_WORD = re.compile(rb"\b(" + "|".join(WORDS).encode() + rb")\b")

TOKENS = 16  # of a text, its own word and the special ones included
CHANGES = few(
    ("layer", "head", "switch", "layer", "head", "text", "layer", "head", "switch", "text"),
    ("layer", "switch", "text"),
)
# Beside layer and head: what asks for another model, for a corpus of one's own or for a minute of
# the processor is another benchmark's.
_LEFT_ALONE = {"model", "corpus", "source", "projection", "example"}
_PICKERS = {"selectbox", "button_group"}
_LAYERS = 6  # of the bundled model
# Of the head view, as it says it where the link leaves it out.
_USUAL = {"layer": "1", "pairs": "all", "least": "auto", "weigh": "attention"}
_NUMBERS = ("heads", "without", "from", "to")  # of the head view


def text_of(word: str, turn: int = 0) -> str:
    """A text that has the visitor's own word in it; another one for each turn."""
    return f"{word} {sentence_of(TOKENS - 1, start=WORDS.index(word) + turn)}"


def foreign_words(data: bytes, own: str) -> set[str]:
    """The words of other visitors in what the server has sent."""
    return {found.decode() for found in _ANY_WORD.findall(data)} - {own}


def change(visitor: Visitor, page: str, word: str, turn: int) -> tuple[str, Any]:
    """The key and the value of a visitor's next change, for `visitor.set`.

    A page without that control gets another of its own: one without any a text, one without a text
    a picker.
    """
    kind = CHANGES[turn % len(CHANGES)]
    if page == "head_view" and kind in {"layer", "head"}:
        return "head_view", {"view": _head_view(visitor, kind, turn)}
    usable = [each for each in visitor.screen if _is_usable(each)]
    switches = [each for each in usable if each.kind == "checkbox" and each.key != "two"]
    if kind == "switch" and switches:
        key = switches[turn % len(switches)].key
        return key, not visitor.value(key)
    if kind in {"layer", "head"} or all(each.key != "text" for each in usable):
        pickers = [each for each in usable if each.kind in _PICKERS]
        named = [each for each in pickers if each.key == kind] or pickers
        if named:
            key = named[turn % len(named)].key
            return key, _next_option(visitor, key)
    return "text", text_of(word, 1 + turn)


def _is_usable(element: Element) -> bool:
    return (
        bool(element.key)
        and element.key not in _LEFT_ALONE
        and not getattr(element.body, "disabled", False)
    )


def _next_option(visitor: Visitor, key: str) -> str:
    options = visitor.options(key)
    now = visitor.value(key)
    now = now[0] if isinstance(now, list) and now else now
    place = options.index(now) if now in options else -1
    return options[(place + 1) % len(options)]


def _head_view(visitor: Visitor, kind: str, turn: int) -> dict[str, Any]:
    """What the head view reports of itself after a click on a layer or a head."""
    query = {key: values[0] for key, values in parse_qs(visitor.query).items()}
    view: dict[str, Any] = {key: query.get(key, usual) for key, usual in _USUAL.items()}
    view |= {key: query.get(key) == "1" for key in ("hide", "renorm", "what")}
    view |= {key: [int(each) for each in query.get(key, "").split(",") if each] for key in _NUMBERS}
    if kind == "layer":
        view["layer"] = str(int(view["layer"]) % _LAYERS + 1)
    else:
        view["heads"] = [1 + turn]
    sent = received(visitor.screen.find("head_view").body.bytes)
    return view | {"serial": sent["serial"]}
