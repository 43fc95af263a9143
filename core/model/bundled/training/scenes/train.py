"""Train vit-scenes on the processor for a given time, in a folder it can resume from.

    python -m core.model.bundled.training.scenes.train --run FOLDER --minutes 60

The learning rate follows the clock: it reaches zero at the deadline, however many steps a busy
machine allowed. Started again with the same folder, the run continues from its last checkpoint with
the time that was left. `log.jsonl` gets the losses on pictures that were held back.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.training.scenes import pictures, task
from core.model.bundled.training.scenes.network import Settings, new_answers, new_network
from core.model.bundled.training.scenes.pictures import HELD_BACK, PATCH, SHAPE_NAMES, Pictures

if TYPE_CHECKING:
    import torch
    from transformers import ViTForImageClassification

LOG_SECONDS = 120  # between checkpoints, and between lines of the log
GROUND_WEIGHT = 0.2  # of a patch of ground among those of shapes: there are five times as many
LOG_PICTURES = (48, 32, 16)  # scenes, mosaics, photographs


@dataclass
class Run:
    """A network in training, and its progress.

    Attributes
    ----------
    answers : what reads the answers off the patches.
    began, deadline : seconds since the epoch.
    step : steps done.
    busy : seconds spent in them.
    """

    network: ViTForImageClassification
    answers: torch.nn.ModuleDict
    optimizer: torch.optim.AdamW
    began: float
    deadline: float
    step: int = 0
    busy: float = 0.0


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train vit-scenes.")
    parser.add_argument("--run", type=Path, required=True, help="folder of checkpoints and log")
    parser.add_argument("--minutes", type=float, required=True, help="from first start to end")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    train(arguments.run, arguments.minutes * 60, threads=arguments.threads)


def train(
    folder: Path,
    seconds: float,
    settings: Settings | None = None,
    threads: int = 2,
    max_steps: int | None = None,
) -> Run:
    """Train until the deadline, or until `max_steps` are done."""
    import torch

    torch.set_num_threads(threads)
    settings = settings or Settings()
    folder.mkdir(parents=True, exist_ok=True)
    kinds = draw(settings)
    held_back = draw_held_back()
    run = _start(folder, settings, seconds)
    logged = time.time()
    while time.time() < run.deadline and run.step != max_steps:
        _step(run, kinds, settings)
        if time.time() - logged > LOG_SECONDS:
            _save(run, folder)
            _log(run, held_back, settings, folder)
            logged = time.time()
    _save(run, folder)
    _log(run, held_back, settings, folder)
    return run


def draw(settings: Settings) -> tuple[Pictures, Pictures, Pictures]:
    """The scenes, mosaics and photographs to learn from."""
    return (
        pictures.draw_scenes(range(settings.scenes)),
        pictures.draw_mosaics(range(settings.mosaics)),
        pictures.crop_photographs(settings.photographs, settings.seed),
    )


def draw_held_back() -> Pictures:
    """Pictures to measure with; of the photographs, other crops than those to learn from."""
    scenes, mosaics, photographs = LOG_PICTURES
    return pictures.join(
        [
            pictures.draw_scenes(range(HELD_BACK, HELD_BACK + scenes)),
            pictures.draw_mosaics(range(HELD_BACK, HELD_BACK + mosaics)),
            pictures.crop_photographs(photographs, HELD_BACK),
        ]
    )


def learning_rate(settings: Settings, step: int, elapsed: float) -> float:
    """Learning rate of a step after `elapsed`, a share of the time (0 to 1)."""
    warm = min(1.0, (step + 1) / settings.warm_up)
    return settings.learning_rate * warm * 0.5 * (1.0 + math.cos(math.pi * min(1.0, elapsed)))


def losses_of(
    network: ViTForImageClassification,
    answers: torch.nn.ModuleDict,
    batch: Pictures,
    masked: torch.Tensor | None,
) -> dict[str, torch.Tensor]:
    """Mean loss of each part of the task; `masked` is bool (picture, patch) or None."""
    import torch

    pixels = torch.from_numpy(batch.pixels).float() / 255
    embeddings = network.vit.embeddings
    hidden = embeddings.patch_embeddings((pixels.permute(0, 3, 1, 2) - 0.5) / 0.5)
    if masked is not None:
        hidden = torch.where(masked[..., None], answers.mask, hidden)
    marks = embeddings.cls_token.expand(len(hidden), -1, -1)
    hidden = torch.cat([marks, hidden], dim=1) + embeddings.position_embeddings
    for layer in network.vit.layers:
        hidden = layer(hidden)
    hidden = network.vit.layernorm(hidden)
    names = network.classifier(hidden[:, 0])
    read = {name: part(hidden[:, 1:]) for name, part in answers.items()}
    return _losses(pixels, batch, masked, names, read)


def _losses(
    pixels: torch.Tensor,
    batch: Pictures,
    masked: torch.Tensor | None,
    names: torch.Tensor,
    read: dict[str, torch.Tensor],
) -> dict[str, torch.Tensor]:
    import torch
    from torch.nn import functional

    cells = task.cells_of(pixels, PATCH)
    wanted, counts = task.related(task.looks_of(cells))
    if masked is not None:
        counts = counts * ~masked[..., None]
    off = functional.smooth_l1_loss(read["relate"], wanted, reduction="none")
    losses = {"relate": (off * counts).sum() / counts.sum()}
    truth = torch.from_numpy(batch.names).flatten(1).float()
    known = truth.sum(1) > 0
    if known.any():
        shares = truth[known] / truth[known].sum(1, keepdim=True)
        losses["name"] = functional.cross_entropy(names[known], shares)
        shapes = torch.tensor([GROUND_WEIGHT, *[1.0] * len(SHAPE_NAMES)])
        losses["shape"] = functional.cross_entropy(
            read["shape"].flatten(0, 1), torch.from_numpy(batch.shown).long().flatten(), shapes
        )
        outline = task.cells_of(torch.from_numpy(batch.outline).float(), PATCH)
        losses["outline"] = functional.binary_cross_entropy_with_logits(
            read["outline"][known], outline[known]
        )
    if masked is not None and masked.any():
        restored = read["restore"][masked].view(-1, PATCH**2, 3) + 0.5
        losses["restore"] = functional.mse_loss(restored, cells[masked])
    return losses


def _step(run: Run, kinds: tuple[Pictures, ...], settings: Settings) -> None:
    import torch

    started = time.time()
    elapsed = (started - run.began) / (run.deadline - run.began)
    phase = settings.early if elapsed < settings.early_part else settings.late
    generator = np.random.default_rng((settings.seed, run.step))
    counts = [round(share * settings.batch) for share in phase.shares]
    masked = torch.from_numpy(_masked(sum(counts), settings.masked, generator))
    losses = losses_of(run.network, run.answers, _batch(kinds, counts, generator), masked)
    torch.stack([getattr(phase, name) * loss for name, loss in losses.items()]).sum().backward()
    torch.nn.utils.clip_grad_norm_(_weights(run.network, run.answers), settings.clip)
    for group in run.optimizer.param_groups:
        group["lr"] = learning_rate(settings, run.step, elapsed)
    run.optimizer.step()
    run.optimizer.zero_grad()
    run.step += 1
    run.busy += time.time() - started


def _batch(
    kinds: tuple[Pictures, ...], counts: list[int], generator: np.random.Generator
) -> Pictures:
    """So many of each kind, turned and recoloured."""
    parts = [
        kind.rows(generator.integers(0, len(kind), count))
        for kind, count in zip(kinds, counts, strict=True)
    ]
    return pictures.varied(pictures.join(parts), generator)


def _masked(count: int, share: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Which patches are masked, (picture, patch): a share of them in half of the pictures."""
    masked = generator.random((count, (pictures.SIDE // PATCH) ** 2)) < share
    return masked & (np.arange(count) % 2 == 0)[:, None]


def _weights(*modules: torch.nn.Module) -> list[torch.nn.Parameter]:
    return [weight for module in modules for weight in module.parameters()]


def _start(folder: Path, settings: Settings, seconds: float) -> Run:
    """A new run, or the one whose checkpoint the folder holds."""
    import torch

    network, answers = new_network(settings), new_answers(settings)
    weights = _weights(network, answers)
    matrices = [weight for weight in weights if weight.dim() == 2]
    others = [weight for weight in weights if weight.dim() != 2]
    optimizer = torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        betas=settings.betas,
        fused=True,
    )
    run = Run(network, answers, optimizer, time.time(), time.time() + seconds)
    if (folder / "checkpoint.pt").is_file():
        saved = torch.load(folder / "checkpoint.pt", weights_only=True)
        network.load_state_dict(saved["network"])
        answers.load_state_dict(saved["answers"])
        optimizer.load_state_dict(saved["optimizer"])
        pause = time.time() - saved["saved"]  # does not count
        run.began, run.deadline = saved["began"] + pause, saved["deadline"] + pause
        run.step, run.busy = saved["step"], saved["busy"]
    (folder / "settings.json").write_text(json.dumps(asdict(settings), indent=1), "utf-8")
    return run


def _save(run: Run, folder: Path) -> None:
    """Write the checkpoint beside the old one, then replace that."""
    import torch

    numbers = {name: getattr(run, name) for name in ("began", "deadline", "step", "busy")}
    parts = ("network", "answers", "optimizer")
    states = {name: getattr(run, name).state_dict() for name in parts}
    torch.save(numbers | states | {"saved": time.time()}, folder / "checkpoint.new")
    (folder / "checkpoint.new").replace(folder / "checkpoint.pt")


def _log(run: Run, held_back: Pictures, settings: Settings, folder: Path) -> None:
    """Append progress and the losses on pictures that were held back."""
    import torch

    generator = np.random.default_rng(settings.seed)
    shape = (len(held_back), (pictures.SIDE // PATCH) ** 2)
    masked = torch.from_numpy(generator.random(shape) < settings.masked)
    with torch.inference_mode():
        losses = losses_of(run.network, run.answers, held_back, None)
        losses["restore"] = losses_of(run.network, run.answers, held_back, masked)["restore"]
    line = {
        "step": run.step,
        "minutes": round((time.time() - run.began) / 60, 1),
        "busy_minutes": round(run.busy / 60, 1),
        "rate": float(f"{run.optimizer.param_groups[0]['lr']:.3g}"),
        **{name: round(float(loss), 4) for name, loss in losses.items()},
    }
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
