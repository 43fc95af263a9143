"""What lessons ask about words, rows, heads and layers of one text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.analysis import strongest_link as links
from core.analysis.head_patterns.search import find_heads
from core.analysis.pairs import permitted_pairs, uniform_attention
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


@predicate
def has_words(trace: Trace) -> Mapping[str, Any] | None:
    """Five words or more, so that there is something to look at."""
    words = {token.word for token in trace.tokens if not token.special}
    return {} if len(words) > 4 else None


@place_of
def by_hand(trace: Trace) -> Found | None:
    """The strongest link, and the numbers that lead from one product to its weight."""
    from core.analysis.neuron import read_head

    if (link := links.strongest_link(trace)) is None:
        return None
    query, key, head = link.query, link.key, read_head(trace, link.layer, link.head)
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
        "second_token": np.delete([token.display for token in trace.key_tokens], key)[second],
        "gap": float(scores[key] - np.delete(scores, key)[second]),
        "ratio": float(weights[key] / np.delete(weights, key)[second]),
        "terms": float(weights.sum() / weights[key] - 1),  # of other keys, where this one has 1
        "weight": float(weights[key]),
        "others": float(weights.sum() - weights[key]),
        "mean": float(trace.attention(link.layer)[:, query, key].mean()),
        "back": float(trace.attention(link.layer, link.head)[key, query]),
        "shifted": float(head.rule.weights(scores[None, None] + 5)[0, 0, key]),
        "lacks": bool(weights[key] < MOST),
    }


@place_of
def reversal(trace: Trace) -> Found | None:
    """Two rows of the strongest link's head: the higher of their best scores gets less."""
    if (link := links.strongest_link(trace)) is None:
        return None
    scores = trace.scores(link.layer, link.head).max(axis=1)
    weights = trace.attention(link.layer, link.head)
    best, keys = weights.max(axis=1), weights.argmax(axis=1)
    gain = np.where(scores[:, None] > scores, best - best[:, None], -1)
    found = {**fields_of(trace, Place(link.layer, link.head)), "lacks": bool(gain.max() < NEAR)}
    for prefix, row in zip(("", "other_"), divmod(int(gain.argmax()), len(gain)), strict=True):
        found |= {f"{prefix}query": row + 1, f"{prefix}key": int(keys[row]) + 1}
        found[f"{prefix}query_token"] = trace.tokens[row].display
        found[f"{prefix}key_token"] = trace.key_tokens[keys[row]].display
        found |= {f"{prefix}score": float(scores[row]), f"{prefix}weight": float(best[row])}
    return found


@place_of
def idle_sink(trace: Trace) -> Found:
    """The head whose strongest column takes far more attention than it moves."""
    return _sink(trace, idle=True)


@place_of
def busy_sink(trace: Trace) -> Found:
    """The head whose strongest column takes most of the attention and moves the most."""
    return _sink(trace, idle=False)


def _sink(trace: Trace, *, idle: bool) -> Found:
    from core.analysis.anomalies.measures import measure_heads

    heads = measure_heads(trace)
    names = {"taken": "sink_attention", "moved": "sink_contribution", "value": "sink_value"}
    taken, moved = heads["sink_attention"], heads["sink_contribution"]
    worth = taken - moved if idle else moved * (taken > MOST)
    layer, head = divmod(int(worth.argmax()), trace.shape[1])
    found = {name: float(heads[column][layer, head]) for name, column in names.items()}
    found["median"] = 1.0
    lacks = found["moved"] > found["taken"] / 2 if idle else found["moved"] < MOST
    sink = trace.key_tokens[int(heads["sink"][layer, head]) - 1].display
    return fields_of(trace, Place(layer, head)) | found | {"token": sink, "lacks": lacks}


@measure
def number_of(
    trace: Trace,
    place: Place,  # noqa: ARG001
    *,
    of: str,
    field: str,
    against: str = "",
) -> Answer:
    """A number of a place; `against` another: whether it is less (0), about equal (1), more (2)."""
    if (found := PLACES[of](trace)) is None:
        raise NotInTextError
    right = found[field]
    if against:
        right = 1 + (right - found[against] > NEAR) - (right - found[against] < -NEAR)
    return Answer((right,), found, lacks=found["lacks"])


@measure
def strongest_column(trace: Trace, place: Place, *, special: bool) -> Answer:
    """The key token that gets most from all tokens together; lacks a `special` one, or a word."""
    column = weights_at(trace, place).mean(axis=0)
    key = int(column.argmax())
    even = uniform_attention(permitted_pairs(trace, place.layer or 0)).mean(axis=(0, 1))[key]
    names = {"token": trace.key_tokens[key].display, "share": float(column[key])}
    fields = fields_of(trace, place) | names | {"even": float(even)}
    lacks = column[key] < 2 * even or trace.key_tokens[key].special != special
    return Answer((key,), fields, lacks=bool(lacks), row=column)


@measure
def heads_of_pattern(trace: Trace, place: Place, *, pattern: str, count: bool = False) -> Answer:  # noqa: ARG001
    """The heads that follow a pattern, or else the one that comes nearest; or their `count`."""
    search = find_heads(trace, pattern)
    scores = np.nan_to_num(search.scores)
    best = divmod(int(scores.argmax()), scores.shape[1])
    follows = np.argwhere(search.holds).tolist()
    fields = {"best_name": fields_of(trace, Place(*best))["name"], "score": float(scores[best])}
    fields |= {"count": len(follows), "heads": scores.size}
    heads = [(layer, head) for layer, head in follows] or [best]
    return Answer((len(follows),) if count else tuple(heads), fields, lacks=not follows)


@measure
def strongest_head_of(trace: Trace, place: Place, *, query: str, key: str) -> Answer:  # noqa: ARG001
    """The head that gives a pair most, and the runner-up."""
    at = find_word(trace, query), find_word(trace, key)
    weights = trace.attention()[:, :, *at]
    second, best = (divmod(int(i), weights.shape[1]) for i in weights.argsort(axis=None)[-2:])
    fields: dict[str, Any] = {"query_token": query, "key_token": key, "second": second}
    for name, head in {"best_name": best, "second_name": second}.items():
        fields[name] = fields_of(trace, Place(*head))["name"]
    fields |= {"weight": float(weights[best]), "second_weight": float(weights[second])}
    return Answer((best,), fields, lacks=bool(weights[best] < MOST))


@measure
def by_layer(trace: Trace, place: Place, *, query: str, key: str, field: str) -> Answer:  # noqa: ARG001
    """How one word attends to another, and like it, layer by layer: one of the fields."""
    from core.analysis.pair_projection import project_pair

    pair = project_pair(trace, find_word(trace, query), find_word(trace, key))
    attends, alike = pair.a_to_b.max(axis=1), pair.in_full
    at = {"top": attends.argmax(), "likest": alike.argmax(), "flattest": pair.kept.argmin()}
    fields: dict[str, Any] = {name: trace.layer_labels[layer] for name, layer in at.items()}
    fields |= {
        "query_token": query,
        "key_token": key,
        "strongest_name": fields_of(trace, Place(*pair.strongest_head))["name"],
        "weight": float(attends.max()),
        "cosine": float(alike.max()),
        "planar": float(pair.in_plane[at["likest"]]),
        "alike": len(pair.same_way),
        "layers": len(alike),
        "kept": float(pair.kept.min()),
        "most_kept": float(pair.kept.max()),
    }
    lacks = dict.fromkeys(("likest", "cosine"), not pair.same_way) | {"top": attends.max() < MOST}
    return Answer((fields[field],), fields, lacks=bool(lacks.get(field)))


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
    return list(heads_of_pattern(trace, Place(None, None), pattern="delimiters").right)


@predicate
def linked_words(trace: Trace) -> Mapping[str, Any] | None:
    """Two words with a strongest link; they are the pair."""
    found = strongest_link(trace)
    return found and {"query": found["query_token"], "key": found["key_token"]}
