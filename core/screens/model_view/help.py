"""What the model view says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from core.analysis.model_map import ModelMap
from core.components.model_view import MAX_ENLARGED_LINES, MAX_LINES, Look
from core.screens.model_view.cached import heads_that
from core.ui.cache import TraceKey
from core.ui.frame.text_row import EXAMPLES
from core.ui.head_maps import gaps_note
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
    cross = trace.source is not None
    return _CROSS_PAIRS if cross else _PAIRS, _words("pairs", cross=cross)


def explain(shown: ModelMap, trace: Trace, look: Look, *, hidden_special: bool) -> str:
    """How to read the grid, true for what is on the screen."""
    layers, heads, *cells = shown.tiles.shape
    size, cross = f"{len(shown.rows)} × {len(shown.columns)}", trace.source is not None
    sentences = [_words("grid", layers=layers, heads=heads, size=size, cross=cross)]
    if silent := gaps_note(trace):
        sentences.append(silent)
    sentences.append(_explain_drawing(shown, look))
    sentences.append(_words("held", head=head_name(trace, *look.held)))
    if shown.block != (1, 1):
        tile, weights = (f"{down} × {across}" for down, across in (cells, shown.block))
        sentences.append(_words("blocks", tile=tile, weights=weights))
    if len(shown.columns) < len(trace.key_tokens):
        sentences.append(_words("left_out"))
    if hidden_special:
        count = sum(token.special for token in (*trace.tokens, *(trace.source or ())))
        sentences.append(_words("hidden", hidden=count))
    return " ".join(sentences)


def _explain_drawing(shown: ModelMap, look: Look) -> str:
    if look.draw == "tiles":
        return _words("tiles")
    rows, columns = shown.tiles.shape[2:]
    enlarged = min(MAX_ENLARGED_LINES, rows * columns)
    return _words("lines", pairs=rows * columns, drawn=MAX_LINES, enlarged=enlarged)


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


def mathematics(trace: Trace) -> str:
    """The definitions behind the tiles, and the scores."""
    return _words(
        "mathematics",
        kind=trace.input.kind,  # each has other patterns
        this=trace.input.this,
        many=highlight_names(trace)["broad"],
    )
