"""What the model view says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from core.analysis.model_map import ModelMap
from core.components.model_view import MAX_ENLARGED_LINES, MAX_LINES, Look
from core.screens.model_view.cached import heads_that
from core.ui.cache import TraceKey
from core.ui.frame.text_row import EXAMPLES
from core.ui.heads import gaps_note
from core.ui.presets import Preset
from core.ui.words.pattern_words import highlight_names, words_for
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

STYLES: list[Literal["lines", "tiles"]] = ["lines", "tiles"]
_PAIRS = {"all": "All", "aa": "A → A", "ab": "A → B", "ba": "B → A", "bb": "B → B"}
_CROSS_PAIRS = {"all": "All", "aa": "→ A", "ab": "→ B"}  # who attends is no sentence of the pair
_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def headline(trace: Trace, key: TraceKey) -> str:
    """How many heads rest where nothing is read, and which looks at the neighbour most (Markdown).

    Empty where none can be measured.
    """
    words, offered = words_for(trace), highlight_names(trace)
    if "delimiters" not in offered:
        return ""
    resting = heads_that(key, "delimiters")
    before = heads_that(key, "previous") if "previous" in offered else None
    ranked = before.ranked() if before is not None and before.holds.any() else []
    return _words(
        "headline",
        resting=int(resting.holds.sum()),
        total=resting.holds.size,
        where=words["delimiter"].where,
        reader=head_name(trace, *ranked[0][:2]) if ranked else "",
        share=ranked[0][2] if ranked else None,
        previous=words["previous"].where,
    )


def pair_words(trace: Trace) -> tuple[dict[str, str], str]:
    """What pairs of sentences are called, and what that means."""
    return _PAIRS if trace.source is None else _CROSS_PAIRS, _words("pairs")


def explain(shown: ModelMap, trace: Trace, look: Look, *, hidden_special: bool) -> str:
    """How to read the grid, true for what is on the screen."""
    layers, heads, rows, columns = shown.tiles.shape
    down, across = shown.block
    tokens = (*trace.tokens, *(trace.source or ()))
    return _words(
        "reading",
        layers=layers,
        heads=heads,
        size=f"{len(shown.rows)} × {len(shown.columns)}",
        held=head_name(trace, *look.held),
        silent=gaps_note(trace),
        tiles=look.draw == "tiles",
        pairs=rows * columns,
        drawn=MAX_LINES,
        enlarged=min(MAX_ENLARGED_LINES, rows * columns),
        block="" if shown.block == (1, 1) else f"{down} × {across}",
        hidden=hidden_special and sum(token.special for token in tokens),
    )


def examples(trace: Trace) -> list[Preset]:
    """Settings of the text and the controls, each with what it shows."""
    seen, offered = trace.input, highlight_names(trace)
    presets = [
        Preset(
            f"Which heads look {seen.back}?",
            _words("look_back", previous=seen.previous),
            {"pattern": "previous"},
        ),
        Preset(
            "Where does attention rest?",
            _words("rest", where=words_for(trace)["delimiter"].where),
            {"pattern": "delimiters"},
        ),
    ]
    if seen.kind == "text":
        leaves, colours, _ = EXAMPLES[3]
        two: dict[str, str | int] = {"text": leaves, "pair": colours or "", "two": True}
        state = {**two, "filter": "ab", "hide": True}
        presets.append(Preset("Two sentences", _words("two_sentences"), state))
    return [each for each in presets if each.state.get("pattern", "none") in offered]
