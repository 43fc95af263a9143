"""What made the weights that come with the app: one script a model."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch


@dataclass(frozen=True)
class HowToLearn:
    """What the settings of a network say of its training."""

    learning_rate: float = 2e-3  # peak of AdamW's
    warm_up: int = 100  # steps to the peak; from there a cosine takes it to zero at the deadline
    weight_decay: float = 0.1  # of matrices; biases and norms have none
    betas: tuple[float, float] = (0.9, 0.98)  # of AdamW
    clip: float = 1.0  # the largest gradient norm of a step


def fit(
    weights: Sequence[torch.nn.Parameter],
    loss_of: Callable[[int, float], torch.Tensor],
    settings: HowToLearn,
    seconds: float,
    max_steps: int | None,
) -> None:
    """Train until the time is over, or `max_steps` are done.

    The learning rate follows the clock: it reaches zero at the deadline, however many steps a busy
    machine allowed. `loss_of` gets the step and the share of the time that is over, 0 to 1.
    """
    groups = [
        {"params": [each for each in weights if each.dim() == 2]},
        {"params": [each for each in weights if each.dim() != 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(
        groups, betas=settings.betas, weight_decay=settings.weight_decay, fused=True
    )
    began, step = time.time(), 0
    while (elapsed := (time.time() - began) / seconds) < 1 and step != max_steps:
        loss_of(step, elapsed).backward()
        torch.nn.utils.clip_grad_norm_(weights, settings.clip)
        rate = settings.learning_rate * min(1.0, (step + 1) / settings.warm_up)
        for group in optimizer.param_groups:
            group["lr"] = rate * 0.5 * (1.0 + math.cos(math.pi * elapsed))
        optimizer.step()
        optimizer.zero_grad()
        step += 1


def arguments(minutes: float, *, text: bool = False) -> argparse.Namespace:
    """Where a script writes its model, for how long it trains, and on which text."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True, help="where the model is written")
    parser.add_argument("--minutes", type=float, default=minutes)
    if text:
        parser.add_argument("--text", type=Path, required=True, help="one paragraph per line")
    return parser.parse_args()
