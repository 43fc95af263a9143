"""What the model view says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from core.analysis.head_patterns import OTHER_END, SAME_START
from core.analysis.head_patterns.similarity import token_step
from core.analysis.related_words.heads import LEVEL
from core.analysis.related_words.words import ONE_PAIR_IN
from core.components.model_view import MAX_ENLARGED_LINES, MAX_LINES
from core.ui import controls
from core.ui.frame.text_row import EXAMPLES
from core.ui.head_maps import gaps_note
from core.ui.messages import notice
from core.ui.presets import Preset
from core.ui.words.inputs import input_word, special_tokens, this_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.model_map import ModelMap
    from core.components.model_view import Look
    from core.model import Trace

STYLES: list[Literal["lines", "tiles"]] = ["lines", "tiles"]
COLOUR_NAMES: dict[Literal["layer", "head", "strength"], str] = {
    "layer": "layer",
    "head": "head",
    "strength": "weight",
}
PAIR_NAMES = {"all": "All", "aa": "A → A", "ab": "A → B", "ba": "B → A", "bb": "B → B"}
# Who attends in cross attention is no sentence of the pair.
CROSS_PAIR_NAMES = {"all": "All", "aa": "→ A", "ab": "→ B"}
PAIR_HELP = ("A → B is A attending to B", "→ A is the decoder attending to A")  # the same, in cross
_START: dict[str, str | bool] = {
    "style": "lines",
    "colour": "layer",
    "sort": "number",
    "filter": "all",
    "pattern": "none",
    "hide": False,
    "renorm": False,
}
SORTED = {
    "number": "",
    "entropy": "each layer from its most focused head to its broadest; the number is the head's",
    "similarity": "similar heads stand side by side; the number is the head's",
}


def hidden(key: str, numbers: Sequence[int], name: str) -> list[int]:
    """The hidden rows or columns, as indices; something must stay on the screen."""
    off = controls.tokens(key, numbers, place="in this model")
    if len(set(off)) == len(numbers):
        notice(f"This link hides every {name}; all are shown instead.")
        st.session_state[key] = off = []
    return [numbers.index(number) for number in off]


def hide_heads(numbers: Sequence[int], layers: list[int], heads: list[int]) -> None:
    """Store the hidden rows and columns, given from 0, as the link has them.

    `numbers` are those of all layers.
    """
    st.session_state["off_layers"] = sorted(numbers[layer] for layer in layers)
    st.session_state["off_heads"] = sorted(head + 1 for head in heads)


def explain(
    shown: ModelMap, trace: Trace, look: Look, *, hidden_special: bool, renormalised: bool
) -> str:
    """How to read the grid, true for what is on the screen."""
    layers, heads, *cells = shown.tiles.shape
    size = f"{len(shown.rows)} × {len(shown.columns)} tokens"
    if trace.source is not None:
        size = f"{size}, the decoder's and your text's"
    sentences = [f"Layers go down, heads across: {layers} × {heads} heads of {size}."]
    if silent := gaps_note(trace):
        sentences.append(silent)
    sentences.append(_explain_drawing(shown, look))
    if shown.block != (1, 1):
        down, across = shown.block
        sentences.append(
            f"The {input_word(trace)} has more tokens than a tile can show: a tile has"
            f" {cells[0]} × {cells[1]} cells, each the largest of {down} × {across} weights; the"
            " three strongest pairs are exact."
        )
    if renormalised:
        sentences.append("Rows are divided by their sum over the tokens shown.")
    elif len(shown.columns) < len(trace.key_tokens):
        sentences.append("Attention to tokens that are left out is missing.")
    if hidden_special:
        count = sum(token.special for token in (*trace.tokens, *(trace.source or ())))
        sentences.append(f"{count} special {'token is' if count == 1 else 'tokens are'} hidden.")
    if look.sorted == SORTED["similarity"] and (step := token_step(trace)) > 1:
        sentences.append(f"For sorting, heads are compared on one token in {step}.")
    return " ".join(sentences)


def _explain_drawing(shown: ModelMap, look: Look) -> str:
    rows, columns = shown.tiles.shape[2:]
    if look.draw == "tiles":
        return (
            "In a tile, rows attend and columns are attended to; the darker the cell, the larger"
            " the weight (its square root, so that small ones are visible)."
        )
    cut = (
        f" Only the strongest lines are drawn: {MAX_LINES} of {rows * columns:,} in a tile,"
        f" {min(MAX_ENLARGED_LINES, rows * columns):,} in its enlargement."
    )
    return (
        "In a tile, tokens run down both sides; a line goes from the token that attends, on the"
        " left, to the one attended to, on the right; stronger lines are larger weights."
        f"{cut if rows * columns > MAX_LINES else ''}"
    )


def file_title(trace: Trace, text: str) -> str:
    """What stands above the saved picture of a `text`."""
    if trace.source is None:
        return f"{trace.model}: {text}"
    decoder = " ".join(token.display for token in trace.tokens)
    return f"{trace.model}, cross attention: {decoder} → {text}"


def examples(trace: Trace) -> list[Preset]:
    """Settings of the text and the controls, each with what it shows."""
    if trace.patches is not None:
        return _of_images(trace)
    if trace.source is not None:
        return _of_any_attention()
    look_back = Preset(
        "Which heads look back?",
        "Heads that give more than half of their attention to the previous token stay bright.",
        _START | {"pattern": "previous"},
    )
    return [look_back, *_of_any_attention(), *_of_texts()]


def _of_images(trace: Trace) -> list[Preset]:
    presets = [
        Preset(
            "Which heads look to the left?",
            "Heads that give more than half of their attention to the patch to the left stay"
            " bright.",
            _START | {"pattern": "previous"},
        ),
        *_of_any_attention()[1:],
    ]
    if trace.patches is not None and trace.patches.first:
        resting = Preset(
            "Where does attention rest?",
            f"Heads with most of their attention on {special_tokens(trace)}. Hide those tokens to"
            " see what the rest does.",
            _START | {"pattern": "delimiters"},
        )
        presets.insert(1, resting)
    return presets


def _of_any_attention() -> list[Preset]:
    return [
        Preset(
            "Where does attention rest?",
            "Heads with most of their attention on special tokens, full stops and commas. Hide"
            " those tokens to see what the rest does.",
            _START | {"pattern": "delimiters"},
        ),
        Preset(
            "From focused to broad",
            "The heads of each layer sorted by entropy, as heat tiles on one scale.",
            _START | {"style": "tiles", "colour": "strength", "sort": "entropy"},
        ),
    ]


def _of_texts() -> list[Preset]:
    """Examples that bring texts of their own."""
    leaves, colours = EXAMPLES[3]
    return [
        Preset(
            "Two sentences",
            "Only what the first sentence takes from the second, as shares of that: do *leaves* and"
            " *fall* find *foliage* and *autumn*?",
            _START | {"filter": "ab", "hide": True, "renorm": True} | _texts(leaves, colours or ""),
        ),
        Preset(
            "The same word again",
            "A text whose words come back in another form, and the heads that find them.",
            _START
            | {"pattern": "words"}
            | _texts("The cat sat on the mat. The cats were sleeping on the mats."),
        ),
        Preset(
            "Words of similar meaning",
            "Heads that give more to *foliage* from *leaves*, or to *nurse* from *doctor*, than"
            " they give to any words in those places.",
            _START
            | {"pattern": "related_other"}
            | _texts(
                "When the leaves fall, the doctor takes a book and walks to the river with his"
                " dog.",
                "The cat and the nurse read a novel under the colorful foliage beside a stream.",
            ),
        ),
    ]


def _texts(text: str, pair: str = "") -> dict[str, str | bool]:
    return {"text": text, "pair": pair, "two": bool(pair)}


_WITHIN_A_TEXT = rf"""
- *words of similar spelling*: $j$ is in another occurrence of the word of $i$, or in another form
  of it, above 0.5. Forms share their first {SAME_START} letters or more and have at most
  {OTHER_END} letters after those: *color* and *colorful*, but not *leaf* and *leaves*.
- *related words*: $\cos(e_i - \bar e, e_j - \bar e) > \theta$ for their input embeddings $e$, the
  rows of the model's own table before any position or layer. $\bar e$ is the mean over words of the
  vocabulary, and $\theta$ what one random pair of those in {ONE_PAIR_IN:,} exceeds (0.29 for the
  bundled MiniLM); both are measured on 2,000 words. Words of letters count where the model reads
  them as one token, except English function words: *the* and *a* are closer than *leaves* and
  *foliage*. The same word elsewhere is not a related one. *Related words across sentences*: the
  same, in different sentences.
- *the other sentence*: $i$ and $j$ are words of different sentences, above 0.5."""
_DELIMITERS = """*delimiters*: $j$ is a special token, a full stop or a comma, above 0.6 (Clark et
  al. 2019, as their code counts them)."""
_OF_PATCHES = """*left*, *right neighbour*: $j$ is the patch beside $i$ in its row of the image,
  above 0.5; *CLS and registers*: $j$ is no patch, above 0.6."""
_ARRANGEMENTS = f"""

Related words are tested differently, since a head may favour their places: the counted words change
places at random within their sentence, related pairs go with their words, and attention stays. A
head is highlighted when its score is above {100 * (1 - LEVEL):.0f} % of 999 such arrangements (199
or 99 where there are many pairs), so one head in {1 / LEVEL:.0f} is highlighted by chance. Words
that are neighbours because they are related, as in *old and ancient*, favour heads that look at
neighbours: the test cannot tell the two apart."""


def mathematics(trace: Trace) -> str:
    """The definitions behind the tiles, the scores and the order."""
    is_cross, is_text = trace.source is not None, trace.patches is None
    patterns, many = _DELIMITERS, "tokens"
    if not is_text:
        patterns, many = _OF_PATCHES, "patches"
    elif not is_cross:
        patterns = rf"*next*, *previous token*: $j = i \pm 1$, above 0.5; {_DELIMITERS}"
    whole = is_text and not is_cross
    within, arrangements = (_WITHIN_A_TEXT, _ARRANGEMENTS) if whole else ("", "")
    return rf"""
Every tile is a head's attention $a_{{ij}}$ of token $i$ to token $j$ ($\sum_j a_{{ij}} = 1$), sent
as one byte a cell, $\operatorname{{round}}(255 \sqrt{{a_{{ij}}}})$. A cell that stands for several
tokens holds their largest weight. The three strongest pairs are exact.

A **pattern** is a set $P$ of pairs, and a head's score the mean over the tokens that have one,

$$
\operatorname{{score}}(P) = \frac{{1}}{{|R|}} \sum_{{i \in R}} \sum_{{j : (i, j) \in P}} a_{{ij}},
\qquad R = \{{i : (i, j) \in P \text{{ is permitted for some }} j\}} .
$$

- {patterns}{within}
- *many {many}*: the mean of $-\sum_j a_{{ij}} \ln a_{{ij}} / \ln n_i$, with $n_i$ the number of
  tokens that $i$ may see, above 0.78.

A head is highlighted only above the uniform baseline too, the score of
$a_{{ij}} = 1/n_i$.{arrangements}

**Similarity**: the distance of two heads of a layer is the square root of the Jensen-Shannon
divergence of their rows, in bits, averaged over tokens; heads stand in the order of the leaves of
an average-linkage clustering, turned so that neighbours are as similar as the tree permits
(Bar-Joseph et al. 2001).

A score says what a head does **on {this_input(trace)}**; on the next one it may do something else.
"""
