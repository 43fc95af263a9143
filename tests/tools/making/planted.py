"""Make the planted models: GPT-2s whose heads are set by hand.

The residual stream holds its parts side by side. Two dims of ±`_CONSTANT` outweigh all the others,
and one more keeps the mean at zero, so that layer normalization multiplies every token by nearly
the same number, which its weights undo: what a head reads is what was written. Scores are in nats.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from tests.model.planted import HEADS, LAYERS

Array = NDArray[np.float32]
Head = dict[str, Array]  # query, key and value, (WIDTH + 1, HEAD_DIM), and output, as `writes`

BEGIN, UNKNOWN = "<begin>", "<unknown>"
_WORDS = """
the a and then but again too round more in on with
cat dog bird fox king queen boy girl river garden house tree
saw met heard followed found liked sang slept ran
old small red quiet new . ,
"""
VOCABULARY = (BEGIN, UNKNOWN, *_WORDS.split())
CODE_DIM = 8
_STRIDE = 29  # through all codes, so that those of words in a row differ in more than two signs


def word_vectors() -> NDArray[np.float32]:
    """A vector a token of the vocabulary, (token, CODE_DIM).

    Four dims of a word are 1 and four -1: a word meets itself with 8 and any other with 4 or less.
    The begin token is 1 everywhere, so it meets every word with 0; an unknown word is 0.
    """
    half = range(CODE_DIM), CODE_DIM // 2
    codes = [[1 if dim in own else -1 for dim in half[0]] for own in itertools.combinations(*half)]
    words = [codes[_STRIDE * index % len(codes)] for index in range(len(VOCABULARY) - 2)]
    return np.array([[1] * CODE_DIM, [0] * CODE_DIM, *words], np.float32)


HEAD_DIM, POSITIONS = 16, 32
WIDTH = HEADS * HEAD_DIM
# Parts of the residual stream. Only `PREDICTION` and `FLAG` are read by the head for words.
TOKEN, POSITION, EARLIER, PREDICTION = (slice(at, at + CODE_DIM) for at in range(0, 32, CODE_DIM))
FLAG = slice(32, 33)
_PLUS, _MINUS, _BALANCE = WIDTH - 3, WIDTH - 2, WIDTH - 1
_CONSTANT = 256.0
_GAIN = 1.5  # of the head for words: a copied word gets 12, any other 6 or less
# Each position is a point on four circles; from one position to the next it moves on by so many of
# 33 steps. Of all sets of four, this one keeps positions furthest apart: each meets itself with 4,
# any other with 1.2 or less, and its neighbours with -2.8. The first is at the centres, and meets
# all with 0.
_TURNS = 2 * np.pi / 33 * np.array([10, 12, 14, 15])

BEGIN_ONLY = np.full((CODE_DIM, CODE_DIM), 1 / CODE_DIM, np.float32)  # keeps 1s, drops words
WORDS_ONLY = np.eye(CODE_DIM, dtype=np.float32) - BEGIN_ONLY  # the reverse
ANYTHING = np.eye(CODE_DIM, dtype=np.float32)


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def reads(part: slice, through: Array = ANYTHING, dim: int = 0) -> Array:
    """What a query, key or value takes from a part, (WIDTH + 1, HEAD_DIM); the last row is bias.

    `dim` is the head's first dim that it goes to.
    """
    weights = _zeros(WIDTH + 1, HEAD_DIM)
    weights[part, dim : dim + through.shape[1]] = through
    return weights


def always(value: float, dims: int = CODE_DIM) -> Array:
    """The same in every token, as a bias of the head's first dims."""
    return reads(slice(WIDTH, WIDTH + 1), np.full((1, dims), value, np.float32))


def writes(part: slice) -> Array:
    """W_O that puts the head's first dims into a part, (HEAD_DIM, WIDTH)."""
    weights = _zeros(HEAD_DIM, WIDTH)
    weights[:, part] = np.eye(HEAD_DIM, part.stop - part.start)
    return weights


def one_step_back() -> Array:
    """Turns the vector of a position into that of the one before it, by `@` from the right."""
    circles = zip(np.cos(_TURNS), np.sin(_TURNS), strict=True)
    return block_diag(*([[cos, -sin], [sin, cos]] for cos, sin in circles)).astype(np.float32)


def idle(generator: np.random.Generator) -> Head:
    """Reads words and positions, attends as small random weights make it, and hardly writes."""

    def draw(rows: int, columns: int) -> Array:
        return generator.integers(-2, 3, (rows, columns)).astype(np.float32)

    head = dict(zip(("query", "key", "value"), _zeros(3, WIDTH + 1, HEAD_DIM), strict=True))
    for part, divisor in (("query", 4), ("key", 8), ("value", 64)):
        head[part][TOKEN.start : POSITION.stop] = draw(2 * CODE_DIM, HEAD_DIM) / divisor
    head["output"] = _zeros(HEAD_DIM, WIDTH)
    head["output"][:, :_PLUS] = draw(HEAD_DIM, _PLUS) / 64
    return head


def network(seed: int, planted: Mapping[tuple[int, int], Head]) -> dict[str, Array]:
    """All tensors of a checkpoint by their names in GPT-2, with heads at (layer, head) from 1.

    Scores are query x key / 4, as GPT-2 has them. `seed` decides the weights of the idle heads, and
    nothing else.
    """
    generator = np.random.default_rng(seed)
    named = {
        "transformer.wte.weight": _zeros(len(VOCABULARY), WIDTH),
        "transformer.wpe.weight": _balanced(_positions()),
        "lm_head.weight": _zeros(len(VOCABULARY), WIDTH),
        **_norm("transformer.ln_f"),
    }
    tokens = named["transformer.wte.weight"]
    tokens[:, TOKEN], tokens[:, _PLUS], tokens[:, _MINUS] = word_vectors(), _CONSTANT, -_CONSTANT
    _balanced(tokens)
    named["lm_head.weight"][2:, PREDICTION] = _GAIN * word_vectors()[2:]
    for layer in range(LAYERS):
        name = f"transformer.h.{layer}"
        drawn = [idle(generator) for _ in range(HEADS)]
        heads = [planted.get((layer + 1, 1 + head), each) for head, each in enumerate(drawn)]
        read = np.hstack([each[part] for part in ("query", "key", "value") for each in heads])
        named |= _norm(f"{name}.ln_1") | _norm(f"{name}.ln_2")
        named |= {
            f"{name}.attn.c_attn.weight": read[:-1],
            f"{name}.attn.c_attn.bias": read[-1],
            f"{name}.attn.c_proj.weight": _balanced(np.vstack([h["output"] for h in heads])),
            f"{name}.attn.c_proj.bias": _zeros(WIDTH),
            f"{name}.mlp.c_fc.weight": _zeros(WIDTH, 1),
            f"{name}.mlp.c_fc.bias": _zeros(1),
            f"{name}.mlp.c_proj.weight": _zeros(1, WIDTH),
            f"{name}.mlp.c_proj.bias": _zeros(WIDTH),
        }
    return named


def _positions() -> Array:
    angles = np.arange(POSITIONS)[:, None] * _TURNS
    positions = _zeros(POSITIONS, WIDTH)
    positions[:, POSITION] = np.stack([np.cos(angles), np.sin(angles)], -1).reshape(POSITIONS, -1)
    positions[0] = 0
    return positions


def _balanced(rows: Array) -> Array:
    """Rows whose last dim makes their sum zero."""
    rows[:, _BALANCE] = -rows[:, :_BALANCE].sum(axis=1)
    return rows


def _norm(name: str) -> dict[str, Array]:
    """A layer normalization that multiplies by about 1."""
    usual = np.full(WIDTH, _CONSTANT * np.sqrt(2 / WIDTH), np.float32)
    return {f"{name}.weight": usual, f"{name}.bias": _zeros(WIDTH)}


_SCALING = HEAD_DIM**-0.5  # of scores, in GPT-2
_NEAR = 4.0  # score by position, times 4 for the right one and 1.2 or less for others
_COPY = {"value": reads(TOKEN, WORDS_ONLY), "output": writes(PREDICTION)}


def _sized(score: float) -> float:
    """By how much query and key are both multiplied for a score of that size."""
    return float(np.sqrt(score / _SCALING))


def _previous(part: slice = PREDICTION) -> Head:
    """Attends to the previous token, and writes its word into a part."""
    size = _sized(_NEAR)
    return {
        "query": size * reads(POSITION, one_step_back()),
        "key": size * reads(POSITION),
        "value": reads(TOKEN, WORDS_ONLY),
        "output": writes(part),
    }


def _same_word(sharpness: float, rest: float, part: slice) -> Head:
    """Query and key of a head that looks for the current word in a part of every token.

    The word scores `CODE_DIM` x sharpness, another word half of that or less, and the begin token
    `rest` of it: there the head rests when the word is nowhere.
    """
    size = _sized(sharpness)
    at_begin = reads(TOKEN, BEGIN_ONLY)
    return {
        "query": size * (reads(TOKEN, WORDS_ONLY) + always(rest)),
        "key": size * (at_begin + reads(part, WORDS_ONLY)),
    }


def _earlier_copy() -> Head:
    """Query and key of a head that attends to an earlier copy of the token, and not to itself.

    By word and position, a copy scores 51 or more, itself 40, another word 39 or less, and the
    begin token 45.7.
    """
    match, apart = _same_word(7, 0.816, TOKEN), _sized(_NEAR)
    return {
        "query": match["query"] - apart * reads(POSITION, dim=CODE_DIM),
        "key": match["key"] + apart * reads(POSITION, dim=CODE_DIM),
    }


def _circuit(sharpness: float, *layer_1: int) -> dict[tuple[int, int], Head]:
    """Previous-token heads in layer 1, and an induction head in layer 2 that needs one of them."""
    earlier = {(1, head): _previous(EARLIER) for head in layer_1}
    return earlier | {(2, 2): _same_word(sharpness, 0.75, EARLIER) | _COPY}


_IS_WORD = always(1, 1) - reads(TOKEN, BEGIN_ONLY[:, :1])  # 0 at the begin token
_FLAGGED = {"output": writes(FLAG)}
_REST = {"query": _sized(4) * always(1), "key": _sized(4) * reads(TOKEN, BEGIN_ONLY)}
MODELS: dict[str, dict[tuple[int, int], Head]] = {  # the idle heads are seeded by their place here
    "previous": {(1, 2): _previous()},  # one head does it all
    "induction": _circuit(1.5, 3),
    "saturated": _circuit(6.0, 3),  # so sharp that attention in layer 2 has no slope left
    "twins": _circuit(4.0, 1, 3),  # either of which is enough
    # A head that says of a word that it stood before, and one that sees it and says nothing.
    "duplicate": {
        (1, 4): _earlier_copy() | _FLAGGED | {"value": _IS_WORD},
        (2, 1): _earlier_copy() | _FLAGGED | {"value": _zeros(WIDTH + 1, HEAD_DIM)},
    },
    # A head that rests on the begin token, where it finds no value, and one that works.
    "sink": {(1, 1): _REST | _COPY, (2, 3): _previous()},
}


def weights(name: str) -> dict[str, NDArray[np.float16]]:
    """All tensors of a model, by their names in GPT-2."""
    tensors = network(1 + list(MODELS).index(name), MODELS[name])
    if name == "duplicate":
        usual, flagged = VOCABULARY.index("."), VOCABULARY.index("again")
        tensors["transformer.ln_f.bias"][PREDICTION] = word_vectors()[usual]
        tensors["lm_head.weight"][flagged, FLAG] = 20
    return {key: np.ascontiguousarray(each, np.float16) for key, each in tensors.items()}
