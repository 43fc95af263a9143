"""Take away: a text or an image before and after, and what else moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.effect.moved import moved_table
from core.analysis.pairs import permitted
from core.figures.heatmap import colour_limit, heatmap_figure
from core.figures.palette import Palette
from core.model.errors import ModelError
from core.screens.effect.away_controls import Ablation, Picked, pick_away
from core.screens.effect.input import limits, model_of, text_of
from core.screens.effect.measuring import notes
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.downloads import contents
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.words.labels import MEASURED
from core.ui.words.messages import quote, show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of, percent

if TYPE_CHECKING:
    from core.model import Trace
    from core.model.interventions.ablation import AblationResult
    from core.model.trace import Array

__all__ = ["pick_away", "show_away"]
_words = Prose(__file__)
_MAX_KEPT = 4  # of two traces of 128 tokens: 10 MB for the bundled model, 40 MB for BERT base
_TICKS = 16  # labels that fit across a third of the page


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Running it without what is taken away …")
def _ablated(key: TraceKey, ablation: Ablation) -> AblationResult:
    from core.model.interventions.ablation import ablate

    return ablate(model_of(key), text_of(key), **ablation._asdict(), **limits(key))


def _result(key: TraceKey, ablation: Ablation) -> AblationResult:
    """Both passes; ends the page where they are refused."""
    try:
        return _ablated(key, ablation)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()


def show_away(trace: Trace, picked: Picked, key: TraceKey, colours: Palette) -> None:
    """The answer; attention before, after, and their difference; what is likeliest; what moved."""
    result = _result(key, picked.ablation)
    table = moved_table(result.before, result.after)
    layer, head = picked.shown or divmod(int(table["moved"].argmax()), result.before.shape[1])
    heads = HeadTable(trace=result.before, table=table, layer=layer, head=head)
    ask(_headline(result, picked))
    _show_attention(result, heads, colours)
    st.caption(" ".join([*_caption(result, picked, heads), *notes(trace, result)]))
    left, right = st.columns([5, 4], gap="medium") if result.expected else (st.container(), None)
    with left:
        _show_moved(heads, colours)
    if right is not None:
        with right:
            st.markdown("\n".join(_likeliest(result)))
    offer_table(heads, contents("effect", result.before.model, "away"))


def _headline(result: AblationResult, picked: Picked) -> str:
    return _words(
        "away",
        what=_what(result.before, picked),
        measured=MEASURED[result.measure],
        change=number(result.change, ".3g"),
        unit=result.unit,
        take=picked.take,
        beyond=abs(result.change) > result.control,
        controls=len(result.draws),
        control=number(result.control, ".3g"),
    )


def _what(trace: Trace, picked: Picked) -> str:
    """What is taken away, as a sentence calls it (Markdown)."""
    ablation = picked.ablation
    if picked.take == "layer":
        return f"the heads of layer {trace.layer_labels[ablation.heads[0][0]]}"
    if picked.take == "heads":
        return head_name(trace, *ablation.heads[0])
    (cell,) = ablation.cells
    query, key = (quote(labels_of(trace.tokens)[each]) for each in (cell.query, cell.key))
    return f"{query} → {key} in {head_name(trace, cell.layer, cell.head)}"


def _show_attention(result: AblationResult, heads: HeadTable, colours: Palette) -> None:
    """The head's attention before and after on one scale, and the change."""
    labels, name = labels_of(result.before.tokens), heads.name
    before, after = (_weights(each, heads) for each in (result.before, result.after))
    top = max(colour_limit(values) for values in (before, after))
    change = result.after.attention(heads.layer, heads.head)
    change = change - result.before.attention(heads.layer, heads.head)
    look: dict[str, Any]
    drawn = {"before": before, "after": after, "change": change}
    for column, (title, values) in zip(st.columns(3), drawn.items(), strict=True):
        look = {"signed": True, "unit": title} if title == "change" else {"top": top}
        figure = heatmap_figure(values, labels, f"{name} {title}", colours, **look)
        figure.update_xaxes(dtick=-(-len(labels) // _TICKS), tickangle=-60)
        with column:
            show_chart(
                figure,
                key=f"effect_{title}",
                part=name.replace(" ", ""),
                quiet=True,
                alt=f"Attention of {name}, {title}",
            )


def _weights(trace: Trace, heads: HeadTable) -> Array:
    """The weights of the head, nan where a pair is not permitted by the model, or by the change."""
    place = heads.layer, heads.head
    return np.where(permitted(trace, *place), trace.attention(*place), np.float32(np.nan))


def _caption(result: AblationResult, picked: Picked, heads: HeadTable) -> list[str]:
    most, moved = picked.shown is None, percent(heads.row["moved"])
    sentences = [_words("attention_of", head=heads.name, most=most, moved=moved)]
    for cell in picked.ablation.cells:
        weight = result.before.attention(cell.layer, cell.head)[cell.query, cell.key]
        sentences.append(_words("edge_weight", weight=number(weight, ".2g")))
    return sentences


def _show_moved(heads: HeadTable, colours: Palette) -> None:
    show_head_map(
        heads.trace,
        heads.grid("moved"),
        "share of attention that moved",
        colours,
        key="effect_moved",
        on_open=lambda layer, head: controls.pick(shown=f"L{layer}H{head}"),
        chosen=(heads.layer, heads.head),
        title="moved",
    )
    st.caption(_words("moved"))


def _likeliest(result: AblationResult) -> list[str]:
    """The likeliest words or classes before and after, as the lines of a table (Markdown)."""
    title = "class" if result.measure == "class" else "word"
    return [
        f"| likeliest {title} | before | after |",
        "|:--|--:|--:|",
        *(
            f"| {quote(each.name)} | {percent(each.before)} | {percent(each.after)} |"
            for each in result.expected
        ),
    ]
