"""Loss and head scores of a causal network on windows it has not learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from numpy.typing import NDArray
    from transformers import GPT2LMHeadModel

ROWS_AT_ONCE = 16


@dataclass(frozen=True)
class HeadScores:
    """Means over windows and rows, each array (layer, head).

    Row 0, which can attend to nothing but itself, counts for none of them.

    Attributes
    ----------
    first, previous, itself : attention to the first token, to the one before, to the token itself.
    entropy : of a row over the logarithm of the tokens it may attend to, 0 to 1.
    """

    first: NDArray[np.float32]
    previous: NDArray[np.float32]
    itself: NDArray[np.float32]
    entropy: NDArray[np.float32]


def mean_loss(network: GPT2LMHeadModel, ids: torch.Tensor) -> float:
    """Mean cross-entropy in nats of every token after the first, given those before it.

    `ids` are windows (window, token), all of one length.
    """
    import torch

    total = 0.0
    with torch.inference_mode():
        for rows in ids.split(ROWS_AT_ONCE):
            total += float(token_loss(network, rows)) * len(rows)
    return total / len(ids)


def token_loss(network: GPT2LMHeadModel, ids: torch.Tensor) -> torch.Tensor:
    """The same as :func:`mean_loss` for one batch, with its gradient."""
    import torch

    logits = network(input_ids=ids[:, :-1]).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def head_scores(network: GPT2LMHeadModel, ids: torch.Tensor) -> HeadScores:
    """Scores of every head on windows of ids (window, token)."""
    sums = [scores_of(attention).sum(axis=0) for attention in eager_attention(network, ids)]
    return HeadScores(*(np.sum(sums, axis=0) / len(ids)).astype(np.float32))


def uniform_first(tokens: int) -> float:
    """What :attr:`HeadScores.first` would be if every row attended to all it may alike.

    >>> round(uniform_first(3), 4)  # (1/2 + 1/3) / 2
    0.4167
    """
    return float(np.mean(1 / np.arange(2, tokens + 1)))


def induction_scores(
    network: GPT2LMHeadModel, length: int = 31, sequences: int = 64, seed: int = 0
) -> NDArray[np.float32]:
    """Mean attention (layer, head) to the token after the earlier copy of the present one.

    Measured on a document mark and random tokens that are said twice (Olsson et al. 2022).
    """
    import torch

    mark = network.config.bos_token_id
    drawn = np.random.default_rng(seed).integers(
        mark + 1, network.config.vocab_size, (sequences, length)
    )
    ids = np.hstack([np.full((sequences, 1), mark), drawn, drawn])
    sums = []
    for attention in eager_attention(network, torch.from_numpy(ids)):
        stripe = np.diagonal(attention, 1 - length, axis1=-2, axis2=-1)  # row i, column i-length+1
        sums.append(stripe[..., 2:].mean(axis=-1).sum(axis=0))  # rows of the second copy alone
    scores: NDArray[np.float32] = np.sum(sums, axis=0) / sequences
    return scores


def eager_attention(network: GPT2LMHeadModel, ids: torch.Tensor) -> Iterator[NDArray[np.float32]]:
    """The network's own attention (window, layer, head, token, token), some windows at a time."""
    import torch

    usual = network.config._attn_implementation  # noqa: SLF001 - it has no public reader
    network.set_attn_implementation("eager")
    try:
        for rows in ids.split(ROWS_AT_ONCE):
            with torch.inference_mode():
                layers = network(input_ids=rows, output_attentions=True).attentions
            yield np.stack([layer.float().numpy() for layer in layers], axis=1)
    finally:
        network.set_attn_implementation(usual)


def scores_of(attention: NDArray[np.float32]) -> NDArray[np.float64]:
    """The scores of :class:`HeadScores`, in its order, of each of some windows.

    Returns (window, 4, layer, head) for attention (window, layer, head, token, token).
    """
    rows = attention[..., 1:, :].astype(np.float64)
    log = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    permitted = np.log(np.arange(2, rows.shape[-1] + 1))
    scores = (
        rows[..., 0],
        np.diagonal(attention, -1, axis1=-2, axis2=-1),
        np.diagonal(attention, 0, axis1=-2, axis2=-1)[..., 1:],
        -(rows * log).sum(axis=-1) / permitted,
    )
    return np.stack([score.mean(axis=-1) for score in scores], axis=1)
