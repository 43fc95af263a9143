"""What is chosen on the query-key page, and what is computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.attention_table import labels_of
from core.analysis.query_key.clouds import HEAD_STAGES, STAGES, default_chosen
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange
from core.analysis.query_key.scaling import scale_head
from core.ui import address, cache, controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.normalization import GridSearch
    from core.analysis.projections.joint_embedding import Metric, Projection
    from core.analysis.query_key.clouds import Cloud, HeadStage
    from core.analysis.query_key.scaling import Criterion, HeadScaling
    from core.analysis.query_key.target import TargetKind
    from core.model import Trace
    from core.ui.cache import TextKey

STAGE_NAMES: dict[HeadStage, str] = {
    "raw": "raw",
    "translated": "translated",
    "normalized": "normalized",
    "searched": "a and c of the search",
}
ONE_HEAD, ALL_HEADS, BOTH = "one head", "all heads", "side by side"
PROJECTIONS: list[Projection] = ["PCA", "biplot", "UMAP", "t-SNE"]
COLOURINGS = ["type", "position", "position mod 5", "norm"]
_CHOSEN_FOR = "_chosen_for"
_POSITIONS = ("from", "to", "point", "dot")  # parameters whose positions are those of one text


@dataclass(frozen=True)
class Choice:
    """The head (layer and head from 0) and how it is measured.

    `number` is that of the layer, as people read it. `ranges` is what the notebook's search tries;
    `sources` and `targets` are the positions of the chosen tokens.
    """

    key: TextKey
    layer: int
    head: int
    number: int
    distance: Metric
    criterion: Criterion
    target: TargetKind = "centred"
    ranges: SearchRange = NOTEBOOK_RANGE
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()

    def name(self, head: int | None = None) -> str:
        """The head, or another one of its layer, as people write it: "L4 H2"."""
        return f"L{self.number} H{(self.head if head is None else head) + 1}"


@dataclass(frozen=True)
class PictureOptions:
    """What the picture shows and how.

    `shown` and `shown_keys` are the positions drawn. `stages` is empty for one head, which has all.
    `threshold` is the attention from which lines are drawn; None draws each query's strongest.
    `point` is the pinned one, as in links.
    """

    labels: Sequence[str]
    key_labels: Sequence[str]
    shown: list[int]
    shown_keys: list[int]
    span: str
    stages: tuple[HeadStage, ...]
    projection: Projection
    in_space: bool
    colouring: str
    threshold: float | None
    point: str
    own_scale: bool
    sized: bool
    labelled: bool


def pick_stage(trace: Trace) -> HeadStage:
    """A box with the stages: cross attention has none of the search."""
    return controls.choice(
        "stage",
        HEAD_STAGES if trace.source is None else STAGES,
        "Stage",
        subject="The stages are",
        default="normalized",
        names=STAGE_NAMES.__getitem__,
        menu=True,
        width=190,
    )


def picture_options(trace: Trace) -> PictureOptions:
    """Two rows of controls: what is drawn and how, then which tokens."""
    crosses = trace.source is not None
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    stages: tuple[HeadStage, ...] = ()
    dimensions = "2-D"
    threshold: float | None = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        span = controls.choice(
            "span",
            [ONE_HEAD, ALL_HEADS, *([] if crosses else [BOTH])],
            "Show",
            subject="The spans are",
            help="One head at every stage; all heads of the layer at one stage; or all heads raw"
            " beside the same heads with the a and c of the search.",
        )
        if span == ALL_HEADS:
            stages = (pick_stage(trace),)
        elif span == BOTH:
            stages = ("raw", "searched")
        projection = controls.choice(
            "projection",
            PROJECTIONS,
            "Projection",
            subject="The projections are",
            menu=True,
            width=130,
        )
        if span == ONE_HEAD:
            if st.session_state.get("dims") in {"2", "3"}:  # as on the atlas page
                st.session_state["dims"] += "-D"
            dimensions = controls.choice(
                "dims", ["2-D", "3-D"], "Space", subject="The pictures are"
            )
        colouring = controls.choice(
            "colour", COLOURINGS, "Colour by", subject="Colours can show", menu=True, width=160
        )
        join = controls.choice("join", ["strongest", "all above"], "Lines", subject="The lines are")
        if join == "all above":
            threshold = controls.number(
                "above", 0.01, 1.0, 0.2, "Attention at least", slider=True, width=150, step=0.01
            )
    sides = {"from": labels, "to": key_labels}
    points = [
        f"{kind}{position}"
        for kind, own in zip("qk", sides.values(), strict=True)
        for position in range(1, len(own) + 1)
    ]
    point = controls.choice("point", ["", *points], subject="Points are", optional=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, label in (("from", "Red lines from"), ("to", "to")):
            names = dict(enumerate(sides[key], 1)).__getitem__
            positions = range(1, len(sides[key]) + 1)
            controls.tokens(key, positions, label, names=names, placeholder="no token", width=172)
        hide = controls.flag("hide", "Hide special tokens")
        return PictureOptions(
            labels,
            key_labels,
            [token.position for token in trace.tokens if not (hide and token.special)],
            [token.position for token in trace.key_tokens if not (hide and token.special)],
            span,
            stages,
            projection,
            dimensions == "3-D",
            colouring,
            threshold,
            point,
            own_scale=controls.flag(
                "scale",
                "Own scales",
                help="Each panel as large as its points, instead of one scale for all.",
            ),
            sized=controls.flag(
                "sizes",
                "Size by norm",
                optional=True,
                help="The longer a query or key at this stage, the larger its point.",
            ),
            labelled=controls.flag("labels", "Labels", default=True, optional=True),
        )


def search_range(*, drawn: bool = False) -> SearchRange:
    """The range of the notebook's search, which its own part has fields for."""
    labels = ("a from − to +", "c from − to +", "Steps of each") if drawn else ("", "", "")
    a, c, steps = NOTEBOOK_RANGE
    return SearchRange(
        controls.number("a_range", 0.01, 100.0, a, labels[0], width=150, optional=True, step=0.5),
        controls.number("c_range", 0.1, 100.0, c, labels[1], width=150, optional=True, step=0.5),
        controls.number("steps", 2, 60, steps, labels[2], width=150, optional=True),
    )


def chosen_tokens(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the chosen sources and targets.

    Positions mean nothing in another text: there the choice starts afresh.
    """
    state, sides = st.session_state, (trace.tokens, trace.key_tokens)
    text = (trace.model, trace.kind, *(token.text for side in sides for token in side))
    before = state.get(_CHOSEN_FOR)
    if before not in {None, text}:
        for key in _POSITIONS:
            state.pop(key, None)
    use_default = before != text and not (address.asks_for("from") or address.asks_for("to"))
    state[_CHOSEN_FOR] = text
    chosen = []
    for key, side, default in zip(("from", "to"), sides, default_chosen(trace), strict=True):
        picked = controls.tokens(key, [token.position + 1 for token in side])
        if use_default:
            state[key] = picked = [position + 1 for position in default]
        chosen.append(tuple(position - 1 for position in picked))
    return chosen[0], chosen[1]


def scaling_of(trace: Trace, choice: Choice, head: int) -> HeadScaling:
    """The constants of a head of the layer on screen."""
    return scale_head(trace, choice.layer, head, choice.distance, choice.criterion, choice.target)


def search_of(choice: Choice) -> GridSearch:
    """The notebook's search on the layer on screen."""
    return cache.layer_search(choice.key, choice.layer, choice.ranges)


def clouds_of(
    choice: Choice,
    stages: tuple[HeadStage, ...],
    projection: Projection = "PCA",
    *,
    head: int | None = None,
    dimensions: int = 2,
) -> list[Cloud]:
    """The clouds of the head on screen, or of another one of its layer."""
    return cache.clouds(
        choice.key,
        choice.layer,
        choice.head if head is None else head,
        stages,
        projection,
        dimensions,
        choice.distance,
        choice.criterion,
        choice.target,
        choice.ranges,
    )
