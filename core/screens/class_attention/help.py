"""What the page says: how to read the maps, examples that set its controls, the mathematics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.images import cls_table
from core.analysis.images.cls.maps import TOP_SHARE, top_mass
from core.analysis.images.cls.region import middle_region
from core.components.cls_maps import View
from core.ui.presets import Preset
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.images import ClsMaps

_words = Prose(__file__)


def headline(maps: ClsMaps, view: View) -> str:
    """On how few of the patches the large map has its mass (Markdown)."""
    values, number = maps.by_head[view.layer, view.column], maps.layer_labels[view.layer]
    summary = ("The mean", "The maximum")[max(0, view.column - maps.heads)]
    head = f"L{number} H{view.column + 1}"
    return _words(
        "headline",
        name=head if view.column < maps.heads else f"{summary} of layer {number}",
        share=view.share,
        count=int(top_mass(values, view.share).sum()),
        patches=values.size,
        even=math.ceil(round(view.share * values.size, 6)),
        cls=maps.source == "CLS",
    )


def explain(maps: ClsMaps, view: View) -> str:
    """How to read the maps, true for what is on the screen."""
    sentences = [_whose(maps, view)]
    if view.only_patches:
        sentences.append(_words("divided"))
    sentences.append(_words("of_maps"))
    if view.rollouts:
        sentences.append(_words("of_rollouts", exact=maps.exact))
    return " ".join(sentences)


def _whose(maps: ClsMaps, view: View) -> str:
    """Whose attention is shown, and what does not go to patches."""
    number, heads = maps.layer_labels[view.layer], maps.heads
    name = f"L{number} H{view.column + 1}" if view.column < heads else f"The mean of layer {number}"
    if maps.source != "CLS":
        return _words("no_cls")
    if view.column > heads:
        return _words("maximum", number=number)
    patches = float(maps.on_patches[view.layer, view.column])
    cls = float(maps.on_cls[view.layer, view.column])
    return _words("gives", name=name, patches=patches, cls=cls, rest=max(0.0, 1 - patches - cls))


def examples(maps: ClsMaps) -> list[Preset]:
    """Settings worth trying, found on this image."""
    rows, columns = maps.by_head.shape[2:]
    middle = middle_region(rows, columns)
    table = cls_table(maps, TOP_SHARE, middle)
    heads = table[table["head"].str.isdecimal()]
    sharpest = heads.iloc[int(np.argmin(heads["top_patches"]))]
    alike = int((heads["top_patches"] == sharpest["top_patches"]).sum()) - 1
    few = _words(
        "sharpest",
        name=_name(sharpest),
        share=TOP_SHARE,
        needed=sharpest["top_patches"],
        patches=rows * columns,
        alike=alike,
    )
    last = {"layer": str(maps.layer_labels[-1]), "head": "mean"}
    found = [
        Preset("The sharpest head", few, _place(sharpest)),
        Preset("The last layer", _words("last_layer"), last),
    ]
    if heads["region_share"].notna().any():
        central = heads.iloc[int(np.nanargmax(heads["region_share"]))]
        share, area = central["region_share"], central["region_area"]
        sentence = _words("in_the_middle", name=_name(central), share=share, area=area)
        place = _place(central) | {"region": middle.name}
        found.append(Preset("What is in the middle?", sentence, place))
    state = {"part": "distance", "over": "image"}
    return [*found, Preset("How far do heads look?", _words("how_far"), state)]


def _name(row: pd.Series) -> str:
    return f"L{row['layer']} H{row['head']}"


def _place(row: pd.Series) -> dict[str, str]:
    return {"layer": str(row["layer"]), "head": str(row["head"])}


def mathematics() -> str:
    """The definitions behind the maps, the outlines, the shares and the distances."""
    return _words("mathematics")
