"""Loss and head scores of a causal network on windows of ids, (window, token)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from transformers import GPT2LMHeadModel

_BATCH = 16  # windows


def mean_loss(network: GPT2LMHeadModel, ids: torch.Tensor) -> float:
    """Mean cross-entropy, in nats, of every token after the first given the tokens before it."""
    import torch

    with torch.inference_mode():
        losses = [float(token_loss(network, rows)) * len(rows) for rows in ids.split(_BATCH)]
    return sum(losses) / len(ids)


def token_loss(network: GPT2LMHeadModel, ids: torch.Tensor) -> torch.Tensor:
    """The mean loss of one batch, with its gradient."""
    import torch

    logits = network(input_ids=ids[:, :-1]).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def head_scores(network: GPT2LMHeadModel, ids: torch.Tensor) -> NDArray[np.float64]:
    """The scores of :func:`scores_of`, (4, layer, head), averaged over windows."""
    sums = [scores_of(attention).sum(axis=0) for attention in _eager_attention(network, ids)]
    means: NDArray[np.float64] = np.sum(sums, axis=0) / len(ids)
    return means


def scores_of(attention: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mean scores of every head, (window, 4, layer, head).

    They are the attention to the first token, to the previous one and to the token itself, and the
    entropy over the logarithm of the tokens a row may attend to. Row 0, which can only attend to
    itself, does not count.

    Parameters
    ----------
    attention : (window, layer, head, token, token).
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


def uniform_first(tokens: int) -> float:
    """The mean attention to the first token if every row attended uniformly to what it may.

    >>> round(uniform_first(3), 4)  # (1/2 + 1/3) / 2
    0.4167
    """
    return float(np.mean(1 / np.arange(2, tokens + 1)))


def induction_scores(
    network: GPT2LMHeadModel, length: int = 31, sequences: int = 64, seed: int = 0
) -> NDArray[np.float32]:
    """Mean attention (layer, head) to the token after the earlier copy of the current one.

    Measured on a document mark and random tokens, repeated once (Olsson et al. 2022).
    """
    import torch

    mark = network.config.bos_token_id
    half = np.random.default_rng(seed).integers(
        mark + 1, network.config.vocab_size, (sequences, length)
    )
    ids = np.hstack([np.full((sequences, 1), mark), half, half])
    sums = []
    for attention in _eager_attention(network, torch.from_numpy(ids)):
        stripe = np.diagonal(attention, 1 - length, axis1=-2, axis2=-1)  # row i, column i-length+1
        sums.append(stripe[..., 2:].mean(axis=-1).sum(axis=0))  # only rows of the second copy
    scores: NDArray[np.float32] = np.sum(sums, axis=0) / sequences
    return scores


def _eager_attention(network: GPT2LMHeadModel, ids: torch.Tensor) -> Iterator[NDArray[np.float32]]:
    """The network's own attention (window, layer, head, token, token), in batches."""
    import torch

    implementation = network.config._attn_implementation  # noqa: SLF001 - it has no public reader
    network.set_attn_implementation("eager")
    try:
        for rows in ids.split(_BATCH):
            with torch.inference_mode():
                layers = network(input_ids=rows, output_attentions=True).attentions
            yield np.stack([layer.float().numpy() for layer in layers], axis=1)
    finally:
        network.set_attn_implementation(implementation)
