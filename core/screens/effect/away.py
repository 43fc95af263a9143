"""Take away: a text or an image before and after, and what else moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.effect.moved import attention_change, moved_table
from core.analysis.pairs import permitted
from core.figures.heatmap import colour_limit, heatmap_figure
from core.figures.palette import Palette
from core.model.errors import ModelError
from core.screens.effect.away_controls import Picked, Wish, pick_away, words_of
from core.screens.effect.input import limits, model_of, text_of
from core.screens.effect.measuring import notes
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.downloads import contents
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.messages import quote, show_model_error
from core.ui.words.numbers import in_a_row, number
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of, percent

if TYPE_CHECKING:
    from core.model import Trace
    from core.model.interventions.taking import Taken
    from core.model.trace import Array

__all__ = ["pick_away", "show_away"]
_words = Prose(__file__)
_MAX_KEPT = 4  # of two traces of 128 tokens: 10 MB for the bundled model, 40 MB for BERT base
_MAX_NAMED = 4  # heads that the headline names
_TICKS = 16  # labels that fit across a third of the page


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Running it without what is taken away …")
def _taken(key: TraceKey, wish: Wish) -> Taken:
    from core.model.interventions.taking import taken_away

    return taken_away(model_of(key), text_of(key), **wish._asdict(), **limits(key))


def _take(key: TraceKey, wish: Wish) -> Taken:
    """Both passes; ends the page where they are refused."""
    try:
        return _taken(key, wish)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()


def show_away(trace: Trace, picked: Picked, key: TraceKey, colours: Palette) -> None:
    """The answer; attention before, after, and their difference; what is likeliest; what moved."""
    taken = _take(key, picked.wish)
    table = moved_table(taken.before, taken.after, taken.aligned)
    layer, head = picked.shown or divmod(int(table["moved"].argmax()), taken.before.shape[1])
    heads = HeadTable(trace=taken.before, table=table, layer=layer, head=head)
    ask(_headline(taken, picked, key))
    _show_attention(taken, heads, colours)
    st.caption(" ".join([*_caption(taken, picked, heads), *notes(trace, taken)]))
    left, right = st.columns([5, 4], gap="medium") if taken.expected else (st.container(), None)
    with left:
        _show_moved(heads, colours)
    if right is not None:
        with right:
            st.markdown("\n".join(_likeliest(taken)))
    offer_table(heads, contents("effect", taken.before.model, "away"))


def _headline(taken: Taken, picked: Picked, key: TraceKey) -> str:
    return _words(
        "away",
        what=_what(taken.before, picked),
        by=_replaced(picked, key),
        measured=MEASURED[taken.measure],
        change=number(taken.change, ".3g"),
        unit=taken.unit,
        take=picked.take,
        beyond=abs(taken.change) > taken.control,
        controls=len(taken.draws),
        control=number(taken.control, ".3g"),
    )


def _what(trace: Trace, picked: Picked) -> str:
    """What is taken away, as a sentence calls it (Markdown)."""
    wish = picked.wish
    if picked.take == "word" and wish.word is not None:
        return quote(words_of(trace)[wish.word])
    if picked.take == "layer":
        return f"the heads of layer {trace.layer_labels[wish.heads[0][0]]}"
    if picked.take == "heads":
        names = [head_name(trace, *each) for each in wish.heads]
        more = len(names) - _MAX_NAMED
        return in_a_row([*names[:_MAX_NAMED], f"{more} more"] if more > 0 else names)
    (cell,) = wish.cells
    query, key = (quote(labels_of(trace.tokens)[each]) for each in (cell.query, cell.key))
    where = "everywhere"
    if cell.layer is not None:
        where = f"in layer {trace.layer_labels[cell.layer]}"
    if cell.layer is not None and cell.head is not None:
        where = f"in {head_name(trace, cell.layer, cell.head)}"
    return f"{query} → {key} {where}"


def _replaced(picked: Picked, key: TraceKey) -> str:
    """By what (Markdown)."""
    if picked.take != "word":
        return replacements_of(key.modality)[picked.wish.replace]
    by = picked.wish.by
    if by is None:
        return quote(str(model_of(key).tokenizer.mask_token))
    return quote(by) if by else "nothing"


def _show_attention(taken: Taken, heads: HeadTable, colours: Palette) -> None:
    """The head's attention before and after on one scale, and the change."""
    place, name = (heads.layer, heads.head), heads.name
    labels = labels_of(taken.before.tokens)
    same = [labels[old] for old, _ in taken.aligned]
    change = attention_change(taken.before, taken.after, taken.aligned, *place)
    drawn: tuple[tuple[str, Array, Any], ...] = (
        ("before", _weights(taken.before, *place), labels),
        ("after", _weights(taken.after, *place), labels_of(taken.after.tokens)),
        ("change", change, same),
    )
    top = max(colour_limit(values, full_scale=False) for _, values, _ in drawn[:2])
    for column, (title, values, shown) in zip(st.columns(3), drawn, strict=True):
        is_change = title == "change"
        figure = heatmap_figure(values, shown, name, colours, signed=is_change)
        figure.update_xaxes(
            title_text=f"<b>{name} {title}</b>, to (key)", dtick=-(-len(shown) // _TICKS)
        )
        look: dict[str, Any] = {
            "colorbar": {"title": {"text": title if is_change else "attention"}}
        }
        if not is_change:
            look |= {"zmax": top, "showscale": title == "after"}
        if title != "before":
            figure.update_yaxes(title_text="")
        figure.data[0].update(look)
        with column:
            show_chart(
                figure,
                key=f"effect_{title}",
                part=name.replace(" ", ""),
                quiet=True,
                alt=f"Attention of {name}, {title}",
            )


def _weights(trace: Trace, layer: int, head: int) -> Array:
    """The weights of a head, nan where a pair is not permitted by the model, or by the change."""
    return np.where(permitted(trace, layer, head), trace.attention(layer, head), np.float32(np.nan))


def _caption(taken: Taken, picked: Picked, heads: HeadTable) -> list[str]:
    row = heads.row
    sentences = [
        _words(
            "attention_of",
            head=heads.name,
            most=picked.shown is None,
            moved=percent(row["moved"]) if row["moved"] else "none",
            compared=len(taken.aligned),
            tokens=len(taken.before.tokens),
        )
    ]
    for cell in picked.wish.cells:
        layers = range(taken.before.shape[0]) if cell.layer is None else (cell.layer,)
        weights = [
            taken.before.attention(layer, cell.head)[..., cell.query, cell.key] for layer in layers
        ]
        largest = max(float(np.max(each)) for each in weights)
        single = cell.head is not None
        sentences.append(
            _words("edge_weight", weight=number(largest, ".2g"), single=single, absent=largest == 0)
        )
    return sentences


def _show_moved(heads: HeadTable, colours: Palette) -> None:
    moved = heads.grid("moved")
    show_head_map(
        heads.trace,
        moved,
        "share of attention that moved",
        colours,
        key="effect_moved",
        on_open=lambda layer, head: controls.pick(shown=f"L{layer}H{head}"),
        chosen=(heads.layer, heads.head),
        bounds=(0.0, float(moved.max()) or 1.0),
        title="moved",
    )
    st.caption(_words("moved"))


def _likeliest(taken: Taken) -> list[str]:
    """The likeliest words or classes before and after, as the lines of a table (Markdown)."""
    title = "class" if taken.measure == "class" else "word"
    return [
        f"| likeliest {title} | before | after |",
        "|:--|--:|--:|",
        *(
            f"| {quote(each.name)} | {percent(each.before)} | {percent(each.after)} |"
            for each in taken.expected
        ),
    ]
