"""Train gpt2-novels on the processor for a given time, in a folder it can resume from.

    python -m core.model.bundled.training.novels.train --text FILE --run FOLDER --minutes 110

The learning rate follows the clock: it reaches zero at the deadline, however many steps a busy
machine allowed. Started again with the same folder, the run continues from its last checkpoint with
the time that was left. `log.jsonl` gets the loss and the head scores on held-out windows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.training.novels import books, measure
from core.model.bundled.training.novels.network import Settings, new_network, train_tokenizer

if TYPE_CHECKING:
    import torch
    from transformers import GPT2LMHeadModel

LOG_SECONDS = 180  # between checkpoints, and between lines of the log
LOG_WINDOWS = 64


@dataclass
class Run:
    """A network in training, and its progress.

    Attributes
    ----------
    began, deadline : seconds since the epoch.
    step : steps done with all weights.
    busy : seconds spent in them.
    late_steps : steps done after them, which train only late positions.
    """

    network: GPT2LMHeadModel
    optimizer: torch.optim.AdamW
    began: float
    deadline: float
    step: int = 0
    busy: float = 0.0
    late_steps: int = 0

    def main_end(self, settings: Settings) -> float:
        """When the steps with all weights end, and their learning rate is zero."""
        return self.deadline - settings.late_part * (self.deadline - self.began)


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train gpt2-novels.")
    parser.add_argument("--text", type=Path, required=True, help="novels, one paragraph per line")
    parser.add_argument("--run", type=Path, required=True, help="folder of checkpoints and log")
    parser.add_argument("--minutes", type=float, required=True, help="from first start to end")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    seconds = arguments.minutes * 60
    train(arguments.text, arguments.run, seconds, threads=arguments.threads)


def train(
    text: Path,
    folder: Path,
    seconds: float,
    settings: Settings | None = None,
    threads: int = 2,
    max_steps: int | None = None,
) -> Run:
    """Train until the deadline, or until `max_steps` of each kind are done."""
    import torch

    torch.set_num_threads(threads)
    settings = settings or Settings()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pid").write_text(str(os.getpid()), "utf-8")
    data, held_out, mark = _prepare_data(text, folder, settings)
    run = _start(folder, settings, mark, seconds)
    logged = 0.0
    while time.time() < run.main_end(settings) and run.step != max_steps:
        _step(run, data, settings)
        if time.time() - logged > LOG_SECONDS:
            _save(run, folder)
            _log(run, held_out[:, : settings.window + 1], folder)
            logged = time.time()
    _save(run, folder)
    learn_late_positions(run, data, settings, max_steps)
    _log(run, held_out[:, : settings.window + 1], folder)
    run.network.save_pretrained(folder / "model")
    return run


def learning_rate(settings: Settings, step: int, elapsed: float) -> float:
    """Learning rate of a step after `elapsed`, a share of the time (0 to 1)."""
    warm = min(1.0, (step + 1) / settings.warm_up)
    return settings.learning_rate * warm * 0.5 * (1.0 + math.cos(math.pi * min(1.0, elapsed)))


def learn_late_positions(
    run: Run, data: NDArray[np.uint16], settings: Settings, max_steps: int | None = None
) -> None:
    """Train only the embeddings of the positions after `window`, until the deadline.

    They start as the mean of the eight before them. No token sees a later one, so the first
    `window` positions of every text come out exactly as before.
    """
    import torch

    table = run.network.transformer.wpe.weight
    first, began = settings.window, time.time()
    late = torch.nn.Parameter(table[first - 8 : first].mean(0).repeat(len(table) - first, 1).data)
    optimizer = torch.optim.Adam([late], betas=settings.betas)
    run.network.requires_grad_(requires_grad=False)
    while time.time() < run.deadline and run.late_steps != max_steps:
        table.data[first:] = late.data
        table.requires_grad_()
        rows = books.rows_of_step(data, run.late_steps, settings.late_batch, settings.seed + 1)
        measure.token_loss(run.network, torch.from_numpy(rows)).backward()
        late.grad, table.grad = table.grad[first:].clone(), None
        elapsed = (time.time() - began) / (run.deadline - began)
        optimizer.param_groups[0]["lr"] = learning_rate(settings, settings.warm_up, elapsed)
        optimizer.step()
        run.late_steps += 1
    table.data[first:] = late.data


def _prepare_data(
    text: Path, folder: Path, settings: Settings
) -> tuple[NDArray[np.uint16], torch.Tensor, int]:
    """Training windows, some held-out ones, and the id of the mark; saves the tokenizer."""
    import torch
    from transformers import PreTrainedTokenizerFast

    train_text, held_out_text = books.split(books.read_paragraphs(text))
    if not (folder / "model" / "tokenizer.json").is_file():
        train_tokenizer(train_text, settings).save_pretrained(folder / "model")
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder / "model")
    backend, length = tokenizer.backend_tokenizer, settings.positions + 1
    cached = folder / "windows.npy"
    if not cached.is_file():
        np.save(cached, books.windows(backend, train_text, length))
    held_out = books.windows(backend, held_out_text, length)
    chosen = held_out[np.linspace(0, len(held_out) - 1, LOG_WINDOWS).astype(int)]
    return np.load(cached), torch.from_numpy(chosen.astype(np.int64)), tokenizer.bos_token_id


def _start(folder: Path, settings: Settings, mark: int, seconds: float) -> Run:
    """A new run, or the one whose checkpoint the folder holds."""
    import torch

    network = new_network(settings, mark)
    matrices = [weight for weight in network.parameters() if weight.dim() > 1]
    others = [weight for weight in network.parameters() if weight.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        betas=settings.betas,
        fused=True,
    )
    run = Run(network, optimizer, time.time(), time.time() + seconds)
    if (folder / "checkpoint.pt").is_file():
        saved = torch.load(folder / "checkpoint.pt", weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        pause = time.time() - saved["saved"]  # does not count
        run.began, run.deadline = saved["began"] + pause, saved["deadline"] + pause
        run.step, run.busy = saved["step"], saved["busy"]
    (folder / "settings.json").write_text(json.dumps(asdict(settings), indent=1), "utf-8")
    return run


def _step(run: Run, data: NDArray[np.uint16], settings: Settings) -> None:
    import torch

    started = time.time()
    examples = books.examples_of_step(data, run.step, settings)
    measure.token_loss(run.network, torch.from_numpy(examples)).backward()
    torch.nn.utils.clip_grad_norm_(run.network.parameters(), settings.clip)
    elapsed = (started - run.began) / (run.main_end(settings) - run.began)
    for group in run.optimizer.param_groups:
        group["lr"] = learning_rate(settings, run.step, elapsed)
    run.optimizer.step()
    run.optimizer.zero_grad()
    run.step += 1
    run.busy += time.time() - started


def _save(run: Run, folder: Path) -> None:
    """Write the checkpoint beside the old one, then replace that."""
    import torch

    numbers = {name: getattr(run, name) for name in ("began", "deadline", "step", "busy")}
    states = {"network": run.network.state_dict(), "optimizer": run.optimizer.state_dict()}
    torch.save(numbers | states | {"saved": time.time()}, folder / "checkpoint.new")
    (folder / "checkpoint.new").replace(folder / "checkpoint.pt")


def _log(run: Run, held_out: torch.Tensor, folder: Path) -> None:
    """Append progress, loss and head scores on held-out windows, (window, token + 1)."""
    first, previous, _, _ = measure.head_scores(run.network, held_out[:, :-1])
    line = {
        "step": run.step,
        "late_steps": run.late_steps,
        "minutes": round((time.time() - run.began) / 60, 1),
        "busy_minutes": round(run.busy / 60, 1),
        "rate": float(f"{run.optimizer.param_groups[0]['lr']:.3g}"),
        "loss": round(measure.mean_loss(run.network, held_out), 4),
        "first": np.round(first, 2).tolist(),
        "previous": np.round(previous, 2).tolist(),
    }
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
