"""What lessons ask about queries and keys, the mask, effects of heads, and images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.anomalies.measures import measure_heads
from core.analysis.arrays import Floats
from core.analysis.images.distance import attention_distance
from core.analysis.images.patch_scores import patches_of
from core.analysis.images.selectivity import FEATURES, follower_counts
from core.analysis.normalization import SearchRange, normalize, search_layer
from core.analysis.pairs import head_vectors, permitted
from core.analysis.query_key.clouds import head_clouds
from core.analysis.query_key.correlation import distances_between
from core.analysis.query_key.scaling import scale_head
from core.analysis.strongest_link import strongest_links
from core.model.trace import Array, Trace, kept
from core.ui import cache
from core.ui.lessons.answers import (
    Answer,
    Place,
    fields_of,
    find_word,
    measure,
    mistake,
    predicate,
)
from core.vocabulary import STAGES, Stage, head_name, labels_of

if TYPE_CHECKING:
    from core.model import Effects, LoadedModel

Head = tuple[int, int]  # layer and head, from 0
_DRAWS, _SEED = 19, 1  # random directions of one head, as on the card of /effect
_CLEAR = 1.5  # times as large: below, two numbers count as alike
_WIDE = 5.0  # a ten times wider range of a than the notebook's


@measure
def nearest_key(trace: Trace, place: Place, *, query: str) -> Answer:
    """The key nearest to a word's query, raw and in full space; the plane may show another one."""
    layer, head = _one(place)
    position, scaling = find_word(trace, query), scale_head(trace, layer, head)
    picture = head_clouds(trace, layer, head, scaling, stages=("raw",))[0].picture
    drawn = distances_between(picture.queries, picture.keys)[position]
    full = distances_between(*head_vectors(trace, layer, head))[position]
    row = trace.attention(layer, head)[position]
    keys = {"": int(full.argmin()), "plane_": int(drawn.argmin()), "most_": int(row.argmax())}
    fields: dict[str, Any]
    fields = {f"{name}token": trace.key_tokens[key].display for name, key in keys.items()}
    fields |= fields_of(trace, place) | {"query_token": query, "plane": keys["plane_"]}
    fields |= {"weight": row[keys[""]], "most": row.max(), "dims": trace.shape[3]}
    return Answer((keys[""],), fields, keys[""] != keys["most_"], query=position, row=row)


@mistake
def in_the_plane(trace: Trace, answer: Answer) -> list[Any]:  # noqa: ARG001
    """The key that is nearest in the picture."""
    return [answer.fields["plane"]]


@mistake
def itself(trace: Trace, answer: Answer) -> list[Any]:  # noqa: ARG001
    """The key of the query's own token."""
    return [answer.query]


@measure
def freedom(trace: Trace, place: Place, *, constant: str) -> Answer:
    """What a or c changes: 0 nothing, 1 distances, 2 scores as well, 3 even weights."""
    layer, head = _one(place)
    scaling, rule = scale_head(trace, layer, head), trace.layers[layer]
    raw = head_vectors(trace, layer, head)
    moved = normalize(*raw, *((scaling.a, 1.0) if constant == "a" else (0.0, scaling.c)))
    distances = [distances_between(*each) for each in (raw, moved)]
    scores = [rule.logits(queries @ keys.T, head) for queries, keys in (raw, moved)]
    weights = [rule.weights(each, head) for each in scores]
    seen = permitted(trace, layer, head)
    largest = [np.abs(b[seen] - a[seen]).max() for a, b in (distances, scores, weights)]
    fields = dict(zip(("distance", "score", "weight"), largest, strict=True)) | {"c": scaling.c}
    return Answer((sum(each > 1e-6 for each in largest),), fields_of(trace, place) | fields)


@measure
def value(
    trace: Trace, place: Place, *, of: str, also: Sequence[str] = (), floor: float = -math.inf
) -> Answer:
    """A quantity, for the words beside others; below the `floor` the text lacks it."""
    found = _value(trace, _one(place), of)
    return Answer((found,), _fields(trace, place, (of, *also)), not found >= floor)


@measure
def larger_of(trace: Trace, place: Place, *, of: str, to: str, also: Sequence[str] = ()) -> Answer:
    """Whether one quantity is clearly more than another (0), alike (1), or clearly less (2)."""
    first, second = (abs(_value(trace, _one(place), each)) for each in (of, to))
    right = 1 - int(first > _CLEAR * second) + int(second > _CLEAR * first)
    return Answer((right,), _fields(trace, place, (of, to, *also)))


@measure
def head_with(
    trace: Trace,
    place: Place,
    *,
    of: str,
    least: bool = False,
    also: Sequence[str] = (),
    floor: float = -math.inf,
) -> Answer:
    """The head with most, or least, of a quantity; the rival leads in the first of the others."""
    best, other = _leader(trace, of, least=least), _leader(trace, (*also, of)[0])
    fields = _fields(trace, Place(*best), (of, *also)) | fields_of(trace, place) | {"rival": other}
    fields |= {"best": head_name(trace, *best), "rival_name": head_name(trace, *other)}
    fields |= {"rival_has": _value(trace, other, of)}
    return Answer((best,), fields, not fields[of] >= floor)


@mistake
def rival(trace: Trace, answer: Answer) -> list[Any]:  # noqa: ARG001
    """The head that leads in another quantity."""
    return [answer.fields["rival"]]


@predicate
def repeats_a_word(trace: Trace) -> dict[str, str] | None:
    """A word that comes twice; its second copy is the query."""
    copies = [label for label in labels_of(trace.tokens) if label.endswith("₂")]
    return {"query": copies[0]} if copies else None


def _fields(trace: Trace, place: Place, names: Sequence[str]) -> dict[str, Any]:
    known = {"tokens": len(trace.tokens), "all_heads": math.prod(trace.shape[:2])}
    head = _one(place)
    return fields_of(trace, place) | known | {each: _value(trace, head, each) for each in names}


def _value(trace: Trace, head: Head, name: str) -> float:
    """A quantity at a head: one of `_QUANTITIES`, or one of every head."""
    found = _QUANTITIES[name](trace, head) if name in _QUANTITIES else _grid(trace, name)[head]
    return float(found)


def _leader(trace: Trace, name: str, *, least: bool = False) -> Head:
    grid = np.nan_to_num(_grid(trace, name) * (-1 if least else 1), nan=-np.inf)
    layer, head = divmod(int(grid.argmax()), grid.shape[1])
    return layer, head


def _one(place: Place) -> Head:
    """The first layer or head where the page shows a mean."""
    return place.layer or 0, place.head or 0


@kept
def _grid(trace: Trace, name: str) -> Floats:
    """A quantity of every head, (layer, head): one of the unusual heads' if it is none of these."""
    if name == "replaced":
        return np.abs(_effects(trace).values)
    if name == "link":
        return np.array([[link.weight for link in row] for row in strongest_links(trace)])
    if name == "pixels":
        return attention_distance(trace).pixels
    if name in FEATURES:
        return cache.followed(trace)[name].to_numpy().reshape(trace.shape[:2])
    return measure_heads(trace)[name]


@kept
def _effects(trace: Trace, head: Head | None = None) -> Effects:
    """Effects of all heads without control, or of one beside random directions."""
    from core.model import effects

    chosen: Any = {"heads": [head], "draws": _DRAWS} if head else {"draws": 0}
    return effects(*_model_and_text(trace), seed=_SEED, **chosen)


def _model_and_text(trace: Trace) -> tuple[LoadedModel, str]:
    """The model, and the text as its tokens tell it."""
    model = cache.model_of(trace)
    with model.tokenizer_lock:
        ids = [token.id for token in trace.tokens if not token.special]
        return model, str(model.tokenizer.decode(ids))


def _alone(trace: Trace, head: Head) -> float:
    """The effect of replacing a head while nothing later reacts."""
    from core.model.interventions.direct import direct_effects

    return float(direct_effects(*_model_and_text(trace), heads=[head])[head])


def _edge(trace: Trace, head: Head) -> float:
    """The effect of cutting a head's strongest link between two words."""
    from core.model.interventions.ablation import Cell, ablate

    layer, place = head
    link = strongest_links(trace, [layer])[0][place]
    return ablate(
        *_model_and_text(trace), cells=[Cell(link.query, link.key, *head)], draws=0
    ).change


def _near(stage: Stage, trace: Trace, head: Head) -> float:
    """For how many percent of the queries the nearest key is the one attended to most."""
    return 100 * float(getattr(scale_head(trace, *head).faithfulness, stage).top1)


def _searched(field: str, limit: float, trace: Trace, head: Head) -> float:
    """The size of what the notebook's search finds with a up to a limit."""
    return abs(float(getattr(search_layer(trace, head[0], SearchRange(limit)), field)))


def _things(trace: Trace, row: Array) -> float:
    """The share of a row (patch,) on patches whose colour is far from most."""
    colours = patches_of(trace).colours
    apart = np.linalg.norm(colours - np.median(colours, axis=0), axis=1)
    return float(row[apart > apart.mean()].sum() / row.sum())


def _followers(feature: str, whose: str, trace: Trace, head: Head) -> Any:  # noqa: ARG001, ANN401
    return follower_counts(cache.followed(trace)).loc[feature, whose]


# Functions of a trace and a head. Percentages are of a row: the first one, of [CLS] in an image.
_QUANTITIES: dict[str, Callable[[Trace, Head], Any]] = {
    **{stage: partial(_near, stage) for stage in STAGES},
    **{f"twin_{each}": partial(_followers, each, "twin") for each in FEATURES},
    **{f"trained_{each}": partial(_followers, each, "trained") for each in FEATURES},
    "effect": lambda trace, head: abs(_effects(trace, head).values[head]),
    "random": lambda trace, head: np.abs(_effects(trace, head).draws[:, *head]).mean(),
    "random_most": lambda trace, head: _effects(trace, head).control[head],
    "alone": _alone,
    "edge": _edge,
    "empty": lambda trace, head: (~permitted(trace, *head)).sum(),
    "even": lambda trace, head: 100 / permitted(trace, *head)[0].sum(),
    "first_row": lambda trace, head: 100 * trace.attention(*head)[0, 0],
    "on_things": lambda t, head: _things(t, t.attention(*head)[0, patches_of(t).tokens]),
    "things": lambda t, _: _things(t, np.ones(patches_of(t).count, np.float32)),
    "best_a": partial(_searched, "a", _WIDE),
    "wide_r": partial(_searched, "correlation", _WIDE),
    "usual_r": partial(_searched, "correlation", SearchRange().a),
}
