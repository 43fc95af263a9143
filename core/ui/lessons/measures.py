"""What lessons ask about words, rows, heads and layers of one text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from core.analysis import strongest_link as links
from core.analysis.anomalies.measures import measure_heads
from core.analysis.arrays import Floats
from core.analysis.head_patterns.measure import mean_scores, measure_text
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.neuron import read_head
from core.analysis.pair_projection import project_pair
from core.model.trace import Trace
from core.ui.lessons.answers import (
    PLACES,
    Answer,
    Found,
    NotInTextError,
    Place,
    fields_of,
    find_word,
    measure,
    mistake,
    place_of,
    predicate,
    weights_at,
)

PRONOUNS = ("it", "she", "he", "they", "him", "her", "them")
NEAR = 0.1  # shares and cosines that differ by less are about equal
MOST = 0.5  # of a head's attention, or of what it moves


@place_of
def strongest_link(trace: Trace) -> Found | None:
    """The strongest link between two words."""
    link = links.strongest_link(trace)
    if link is None:
        return None
    return fields_of(trace, Place(link.layer, link.head)) | {
        "query": link.query + 1,
        "key": link.key + 1,
        "query_token": trace.tokens[link.query].display,
        "key_token": trace.key_tokens[link.key].display,
    }


@measure
def strongest_key(trace: Trace, place: Place, *, query: str, least: float = 0) -> Answer:
    """The key token that a query word attends to most, with at `least` this weight."""
    position = find_word(trace, query)
    row = weights_at(trace, place)[position]
    key = int(row.argmax())
    fields = fields_of(trace, place) | {
        "query_token": trace.tokens[position].display,
        "token": trace.key_tokens[key].display,
        "weight": float(row[key]),
    }
    return Answer((key,), fields, lacks=bool(row[key] < least), query=position, row=row)


@mistake
def neighbour(trace: Trace, answer: Answer) -> list[int]:
    """The tokens right before and after the query word."""
    beside = {answer.query - 1, answer.query + 1}
    return sorted(beside & set(range(len(trace.key_tokens))))


@predicate
def has_pronoun(trace: Trace) -> Mapping[str, Any] | None:
    """A pronoun that is not the first word; it is the query."""
    for token in trace.tokens:
        if token.word > 0 and token.display.casefold() in PRONOUNS:
            return {"query": token.display}
    return None


@place_of
def by_hand(trace: Trace) -> Found | None:
    """The strongest link, and the numbers that lead from one product to its weight."""
    link = links.strongest_link(trace)
    if link is None:
        return None
    (layer, query, key), head = (link.layer, link.query, link.key), read_head(trace, *_at(link))
    products, scores, weights = head.products(query)[key], head.scores(query), head.weights(query)
    largest, second = abs(products).argmax(), np.delete(scores, key).argmax()
    return {
        **(strongest_link(trace) or {}),
        "dimensions": len(products),
        "dimension": int(largest) + 1,
        "of_query": float(head.queries[query, largest]),
        "of_key": float(head.keys[key, largest]),
        "product": float(products[largest]),
        "total": float(products.sum()),
        "scaling": head.rule.scaling,
        "score": float(products.sum() * head.rule.scaling),
        "second_token": trace.key_tokens[second + (second >= key)].display,
        "gap": float(scores[key] - np.delete(scores, key)[second]),
        "ratio": float(weights[key] / np.delete(weights, key)[second]),
        "terms": float(weights.sum() / weights[key] - 1),  # of other keys, where this one has 1
        "weight": float(weights[key]),
        "others": float(weights.sum() - weights[key]),
        "mean": float(trace.attention(layer)[:, query, key].mean()),
        "back": float(trace.attention(*_at(link))[key, query]),
        "shifted": float(head.rule.weights(scores[None, None] + 5)[0, 0, key]),
        "lacks": bool(weights[key] < MOST),
    }


@place_of
def reversal(trace: Trace) -> Found | None:
    """Two rows of the strongest link's head: the higher of their best scores gets less."""
    link = links.strongest_link(trace)
    if link is None:
        return None
    scores, weights = trace.scores(*_at(link)).max(axis=1), trace.attention(*_at(link))
    best, keys = weights.max(axis=1), weights.argmax(axis=1)
    gain = np.where(scores[:, None] > scores, best - best[:, None], -1)
    rows = np.unravel_index(int(gain.argmax()), gain.shape)
    found: dict[str, Any] = {"lacks": bool(gain.max() < NEAR)}
    for prefix, row in zip(("", "other_"), map(int, rows), strict=True):
        found |= {f"{prefix}query": row + 1, f"{prefix}key": int(keys[row]) + 1}
        found[f"{prefix}query_token"] = trace.tokens[row].display
        found[f"{prefix}key_token"] = trace.key_tokens[keys[row]].display
        found |= {f"{prefix}score": float(scores[row]), f"{prefix}weight": float(best[row])}
    return fields_of(trace, Place(*_at(link))) | found


def _at(link: links.Link) -> tuple[int, int]:
    return link.layer, link.head


@place_of
def idle_sink(trace: Trace) -> Found:
    """The head whose strongest column takes far more attention than it moves."""
    found = _sink(trace, lambda taken, moved: taken - moved)
    return found | {"lacks": found["moved"] > found["taken"] / 2}


@place_of
def busy_sink(trace: Trace) -> Found:
    """The head whose strongest column takes most of the attention and moves the most."""
    found = _sink(trace, lambda taken, moved: moved * (taken > MOST))
    return found | {"lacks": found["moved"] < MOST}


def _sink(trace: Trace, worth: Callable[[Floats, Floats], Floats]) -> dict[str, Any]:
    heads = measure_heads(trace)
    values = worth(heads["sink_attention"], heads["sink_contribution"])
    layer, head = map(int, np.unravel_index(int(values.argmax()), values.shape))
    names = {"taken": "sink_attention", "moved": "sink_contribution", "value": "sink_value"}
    sink = trace.key_tokens[int(heads["sink"][layer, head]) - 1].display
    found = {name: float(heads[column][layer, head]) for name, column in names.items()}
    return fields_of(trace, Place(layer, head)) | found | {"token": sink, "median": 1.0}


@measure
def number_of(trace: Trace, place: Place, *, of: str, field: str) -> Answer:  # noqa: ARG001
    """A number that a function of `PLACES` finds."""
    if (found := PLACES[of](trace)) is None:
        raise NotInTextError(of)
    return Answer((found[field],), found, lacks=found["lacks"])


@measure
def compared(trace: Trace, place: Place, *, of: str, field: str, against: str) -> Answer:
    """Whether a number that is found is less than another (0), about equal (1) or more (2)."""
    answer = number_of(trace, place, of=of, field=field)
    difference = answer.fields[field] - answer.fields[against]  # type: ignore[operator]
    return replace(answer, right=(1 + (difference > NEAR) - (difference < -NEAR),))


@measure
def strongest_column(trace: Trace, place: Place) -> Answer:
    """The key token that gets most from all tokens together."""
    column = weights_at(trace, place).mean(axis=0)
    key, uniform = int(column.argmax()), 1 / len(column)
    names = {"token": trace.key_tokens[key].display, "share": float(column[key])}
    fields = fields_of(trace, place) | names | {"uniform": uniform}
    return Answer((key,), fields, lacks=bool(column[key] < 2 * uniform), row=column)


@measure
def heads_of_pattern(trace: Trace, place: Place, *, pattern: str, count: bool = False) -> Answer:  # noqa: ARG001
    """The heads that follow a pattern, or else the one that comes nearest; or their `count`."""
    record = next(each for each in PATTERNS if each.name == pattern)
    measured = mean_scores([measure_text(trace, [record])])
    scores, uniform = (
        np.nan_to_num(each[record.score]) for each in (measured.means, measured.uniform)
    )
    best = divmod(int(scores.argmax()), scores.shape[1])
    follows = np.argwhere((scores > record.threshold) & (scores > uniform)).tolist()
    fields = {"best_name": fields_of(trace, Place(*best))["name"], "score": float(scores[best])}
    fields |= {"count": len(follows), "heads": scores.size}
    heads = [(layer, head) for layer, head in follows] or [best]
    return Answer((len(follows),) if count else tuple(heads), fields, lacks=not follows)


@measure
def strongest_head_of(trace: Trace, place: Place, *, query: str, key: str) -> Answer:  # noqa: ARG001
    """The head that gives a pair most, and the runner-up."""
    weights = trace.attention()[:, :, find_word(trace, query), find_word(trace, key)]
    second, best = (divmod(int(i), weights.shape[1]) for i in weights.argsort(axis=None)[-2:])
    fields: dict[str, Any] = {"second": second, "weight": float(weights[best])}
    for name, head in {"best_name": best, "second_name": second}.items():
        fields[name] = fields_of(trace, Place(*head))["name"]
    fields["second_weight"] = float(weights[second])
    return Answer((best,), fields, lacks=bool(weights[best] < MOST))


@measure
def by_layer(trace: Trace, place: Place, *, query: str, key: str, field: str) -> Answer:  # noqa: ARG001
    """How one word attends to another, and like it, layer by layer: one of the fields."""
    pair = project_pair(trace, find_word(trace, query), find_word(trace, key))
    attends, alike = pair.a_to_b.max(axis=1), pair.in_full
    places = {"top": attends.argmax(), "likest": alike.argmax(), "flattest": pair.kept.argmin()}
    fields: dict[str, Any] = {name: trace.layer_labels[at] for name, at in places.items()}
    fields |= {"weight": float(attends.max()), "cosine": float(alike.max())}
    fields |= {"strongest_name": fields_of(trace, Place(*pair.strongest_head))["name"]}
    fields |= {
        "layers": len(alike),
        "alike": len(pair.same_way),
        "planar": float(pair.in_plane[alike.argmax()]),
    }
    fields |= {"kept": float(pair.kept.min()), "most_kept": float(pair.kept.max())}
    lacks = {"top": fields["weight"] < MOST, "likest": not pair.same_way}
    return Answer((fields[field],), fields, lacks=lacks.get(field, False))


@mistake
def second(trace: Trace, answer: Answer) -> list[Any]:  # noqa: ARG001
    """The runner-up, a token or a head."""
    return [answer.fields["second"] if answer.row is None else int(answer.row.argsort()[-2])]


@mistake
def special(trace: Trace, answer: Answer) -> list[int]:  # noqa: ARG001
    """Special tokens."""
    return [token.position for token in trace.key_tokens if token.special]


@mistake
def word(trace: Trace, answer: Answer) -> list[int]:  # noqa: ARG001
    """Ordinary tokens."""
    return [token.position for token in trace.key_tokens if not token.special]


@mistake
def resting(trace: Trace, answer: Answer) -> list[Any]:  # noqa: ARG001
    """Heads that rest on special tokens and punctuation."""
    return list(heads_of_pattern(trace, Place(None, None), pattern="delimiter").right)


@predicate
def linked_words(trace: Trace) -> Mapping[str, Any] | None:
    """Two words with a strongest link; they are the pair."""
    found = strongest_link(trace)
    return found and {"query": found["query_token"], "key": found["key_token"]}
