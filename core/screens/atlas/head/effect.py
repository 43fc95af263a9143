"""Whether the head on screen matters: it is replaced in some sentences of the atlas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.arrays import Bools, Floats, Indices
from core.atlas import Atlas
from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import SINGLE_DRAWS, Replace
from core.model.interventions.measures import Measure
from core.screens.atlas.screen import Screen
from core.screens.atlas.wording import number
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import LoadedModel

SENTENCES = 4  # in which a head is replaced
MAX_TOKENS = 128  # of a sentence, as on the page for effects
_words = Prose(__file__)


@dataclass(frozen=True)
class Replaced:
    """What replacing a head changes in some sentences.

    Attributes
    ----------
    sentences : of the atlas, from 0.
    measure, unit : what is measured.
    sizes : by what replaces it, how much it changes in each sentence, and the largest that a random
        direction of the same length changes, (sentence, 2).
    share : the length of what it writes, of the mean head of its layer; None where W_O is unknown.
    """

    sentences: tuple[int, ...]
    measure: Measure
    unit: str
    sizes: dict[Replace, Floats]
    share: float | None

    @property
    def is_needed(self) -> bool:
        """Whether every way changes more than random directions in most of the sentences."""
        return all(np.mean(_beyond(each)) > 0.5 for each in self.sizes.values())


def _beyond(sizes: Floats) -> Bools:
    return sizes[:, 0] > sizes[:, 1]


def replace_head(screen: Screen, model: LoadedModel, read: Indices) -> Replaced | None:
    """Replace the head on screen in some of the sentences that were read, in every way.

    None where none of them is short enough, or the model's heads cannot be replaced.
    """
    from core.model import effects
    from core.model.interventions.written import written_norms

    head, texts = (screen.layer, screen.head), screen.atlas.sentences
    sentences = _pick(screen.atlas, read)
    sizes: dict[Replace, list[tuple[float, float]]] = {each: [] for each in replacements_of("text")}
    shares, found = [], None
    try:
        with st.spinner(_words("replacing", name=screen.name, count=len(sentences))):
            for sentence in sentences:
                for replace, pairs in sizes.items():
                    found = effects(
                        model, texts[sentence], replace, heads=[head], draws=SINGLE_DRAWS
                    )
                    pairs.append((abs(float(found.values[head])), float(found.control[head])))
                norms = written_norms(model, texts[sentence])
                if norms is not None:
                    shares.append(float(norms[head] / np.nanmean(norms[head[0]])))
    except UnsupportedModelError:
        return None
    if found is None:
        return None
    arrays = {replace: np.array(pairs) for replace, pairs in sizes.items()}
    share = float(np.mean(shares)) if shares else None
    return Replaced(sentences, found.measure, found.unit, arrays, share)


def _pick(atlas: Atlas, read: Indices) -> tuple[int, ...]:
    """Up to `SENTENCES` of those, evenly spread, none over `MAX_TOKENS`."""
    counts = np.bincount(atlas.tokens.sentence, minlength=len(atlas.sentences))
    fitting = [int(each) for each in np.unique(read) if counts[each] <= MAX_TOKENS]
    places = np.linspace(0, len(fitting) - 1, min(SENTENCES, len(fitting)))
    return tuple(fitting[int(place)] for place in places)


def facts_of(replaced: Replaced | None) -> list[tuple[str, str]]:
    """Names and Markdown, for the report."""
    if replaced is None:
        return [("Effect", _words("not_replaced", most=MAX_TOKENS))]
    count, ways = len(replaced.sentences), replacements_of("text")
    verdict = _words(
        "needed",
        needed=replaced.is_needed,
        ways=len(ways),
        draws=SINGLE_DRAWS,
        count=count,
        sentences=in_a_row([f"{each + 1:,}" for each in replaced.sentences]),
    )
    facts = [("Effect", verdict)]
    for replace, sizes in replaced.sizes.items():
        effect, control = (number(float(each), ".3g") for each in sizes.mean(axis=0))
        words = _words(
            "one_way",
            effect=effect,
            control=control,
            measured=MEASURED[replaced.measure],
            unit=replaced.unit,
            beyond=int(_beyond(sizes).sum()),
            count=count,
        )
        facts.append((f"Replaced by {ways[replace]}", words))
    if replaced.share is not None:
        facts.append(("Carries", _words("carries", share=number(replaced.share))))
    return facts
