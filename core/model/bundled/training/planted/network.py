"""A GPT-2 whose heads are set by hand, and the parts that heads are set from.

The residual stream holds its parts side by side. Two dims of ±`_CONSTANT` outweigh all the others,
and one more keeps the mean at zero, so that layer normalization multiplies every token by nearly
the same number, which its weights undo: what a head reads is what was written.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.planted import HEADS, LAYERS
from core.model.bundled.training.planted.words import CODE_DIM, VOCABULARY, word_vectors

Array = NDArray[np.float32]

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
    turn = _zeros(CODE_DIM, CODE_DIM)
    for circle, angle in enumerate(_TURNS):
        cos, sin = np.cos(angle), np.sin(angle)
        turn[2 * circle : 2 * circle + 2, 2 * circle : 2 * circle + 2] = [[cos, -sin], [sin, cos]]
    return turn


class Network:
    """Weights by the names of GPT-2, and every head idle until it is set.

    Idle heads read words and positions, attend as small random weights make them, and write next to
    nothing. `seed` decides these weights, and nothing else.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._heads = {
            (layer, head): self._idle() for layer in range(LAYERS) for head in range(HEADS)
        }
        self.head_for_words = _zeros(len(VOCABULARY), WIDTH)
        self.head_for_words[2:, PREDICTION] = _GAIN * word_vectors()[2:]
        self.expected = _zeros(WIDTH)  # added before the head for words

    def set_head(
        self, layer: int, head: int, *, query: Array, key: Array, value: Array, output: Array
    ) -> None:
        """Set a head, counted from 1: scores are query x key / 4, as GPT-2 has them."""
        self._heads[layer - 1, head - 1] = (query, key, value, output)

    def _idle(self) -> tuple[Array, Array, Array, Array]:
        def draw(rows: int, columns: int) -> Array:
            return self._generator.integers(-2, 3, (rows, columns)).astype(np.float32)

        query, key, value = _zeros(3, WIDTH + 1, HEAD_DIM)
        read = slice(TOKEN.start, POSITION.stop)
        for weights, divisor in ((query, 4), (key, 8), (value, 64)):
            weights[read] = draw(2 * CODE_DIM, HEAD_DIM) / divisor
        output = _zeros(HEAD_DIM, WIDTH)
        output[:, :_PLUS] = draw(HEAD_DIM, _PLUS) / 64
        return query, key, value, output

    def weights(self) -> dict[str, NDArray[np.float16]]:
        """All tensors of a checkpoint."""
        named = {
            "transformer.wte.weight": _balanced(self._tokens()),
            "transformer.wpe.weight": _balanced(_positions()),
            "lm_head.weight": self.head_for_words,
            **_norm("transformer.ln_f", self.expected),
        }
        for layer in range(LAYERS):
            name = f"transformer.h.{layer}"
            heads = [self._heads[layer, head] for head in range(HEADS)]
            read = np.hstack([each[part] for part in range(3) for each in heads])
            named |= _norm(f"{name}.ln_1") | _norm(f"{name}.ln_2")
            named |= {
                f"{name}.attn.c_attn.weight": read[:-1],
                f"{name}.attn.c_attn.bias": read[-1],
                f"{name}.attn.c_proj.weight": _balanced(np.vstack([each[3] for each in heads])),
                f"{name}.attn.c_proj.bias": _zeros(WIDTH),
                f"{name}.mlp.c_fc.weight": _zeros(WIDTH, 1),
                f"{name}.mlp.c_fc.bias": _zeros(1),
                f"{name}.mlp.c_proj.weight": _zeros(1, WIDTH),
                f"{name}.mlp.c_proj.bias": _zeros(WIDTH),
            }
        return {name: np.ascontiguousarray(each, np.float16) for name, each in named.items()}

    def _tokens(self) -> Array:
        tokens = _zeros(len(VOCABULARY), WIDTH)
        tokens[:, TOKEN] = word_vectors()
        tokens[:, _PLUS], tokens[:, _MINUS] = _CONSTANT, -_CONSTANT
        return tokens


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


def _norm(name: str, bias: Array | None = None) -> dict[str, Array]:
    """A layer normalization that multiplies by about 1."""
    usual = np.full(WIDTH, _CONSTANT * np.sqrt(2 / WIDTH), np.float32)
    return {
        f"{name}.weight": usual,
        f"{name}.bias": _zeros(WIDTH) if bias is None else bias,
    }
