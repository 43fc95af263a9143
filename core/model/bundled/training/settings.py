"""What gpt2-novels was trained with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Shape of the network, and how it learns.

    Attributes
    ----------
    vocabulary : tokens of the byte-level BPE, the document mark included.
    layers, heads, width : GPT-2's; a head has width / heads dims.
    positions : longest input in tokens.
    window : tokens of a training example. With longer ones heads learn to look near first, and
        rest on the first token much later.
    batch : examples a step.
    from_sentence : part of the examples that begin where a sentence begins; others begin anywhere.
    learning_rate : of AdamW at its peak; large, because first-token heads come sooner with it.
    warm_up : steps to the peak; then a cosine brings it to zero when the time is up.
    weight_decay : of matrices; biases and layer norms have none.
    betas, clip : of AdamW, and the largest norm of a step's gradient.
    late_part : part of the time, at the end, in which the positions after `window` are learned,
        and nothing else is changed: what the first ones do stays exactly as it is.
    late_batch : examples of `positions` tokens a step then.
    seed : of the first weights and of the order of examples.
    """

    vocabulary: int = 4096
    layers: int = 4
    heads: int = 4
    width: int = 128
    positions: int = 128
    window: int = 64
    batch: int = 64
    from_sentence: float = 0.5
    learning_rate: float = 3e-3
    warm_up: int = 300
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    late_part: float = 0.08
    late_batch: int = 8
    seed: int = 1
