"""Train gpt2-novels on the processor, for a given time, in a folder it can resume from.

    python -m core.model.bundled.training.train_gpt2_novels --text FILE --run FOLDER --minutes 110

The learning rate follows the clock: it reaches zero when the time is up, however many steps a busy
machine allowed. Started again with the same folder, the run goes on from its last checkpoint with
the time that was left then. `log.jsonl` gets the loss and the head scores on the windows kept back.
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

from core.model.bundled.training import measure, novels
from core.model.bundled.training.gpt2_network import new_network, train_tokenizer
from core.model.bundled.training.settings import Settings

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from transformers import GPT2LMHeadModel

LOG_SECONDS = 180  # between checkpoints, and between lines of the log
LOG_WINDOWS = 64


@dataclass
class Run:
    """A network in training, and how far it is.

    Attributes
    ----------
    began, deadline : seconds since the epoch.
    step : steps done with all weights.
    busy : seconds spent in them.
    late_steps : steps done after them, with late positions alone.
    """

    network: GPT2LMHeadModel
    optimizer: torch.optim.AdamW
    began: float
    deadline: float
    step: int = 0
    busy: float = 0.0
    late_steps: int = 0


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train gpt2-novels.")
    parser.add_argument("--text", type=Path, required=True, help="novels, one paragraph a line")
    parser.add_argument("--run", type=Path, required=True, help="folder of checkpoints and log")
    parser.add_argument("--minutes", type=float, required=True, help="time from first start to end")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, help="stop after so many steps, to try things out")
    arguments = parser.parse_args()
    train(
        arguments.text,
        arguments.run,
        arguments.minutes * 60,
        threads=arguments.threads,
        most_steps=arguments.steps,
    )


def train(
    text: Path,
    folder: Path,
    seconds: float,
    settings: Settings | None = None,
    threads: int = 2,
    most_steps: int | None = None,
) -> Run:
    """Train until the time is up, or `most_steps` of each kind are done."""
    import torch

    torch.set_num_threads(threads)
    settings = settings or Settings()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pid").write_text(str(os.getpid()), "utf-8")
    learn, kept, mark = _examples(text, folder, settings)
    run = _start(folder, settings, mark, seconds)
    logged = 0.0
    while time.time() < _main_end(run, settings) and run.step != most_steps:
        _step(run, learn, settings)
        if time.time() - logged > LOG_SECONDS:
            _save(run, folder)
            _log(run, kept[:, : settings.window + 1], folder)
            logged = time.time()
    _save(run, folder)
    learn_late_positions(run, learn, settings, most_steps)
    _log(run, kept[:, : settings.window + 1], folder)
    run.network.save_pretrained(folder / "model")
    return run


def _main_end(run: Run, settings: Settings) -> float:
    """When the steps with all weights end, and their learning rate is zero."""
    return run.deadline - settings.late_part * (run.deadline - run.began)


def learning_rate(settings: Settings, step: int, passed: float) -> float:
    """Rate of a step, `passed` being the part of the time that is over (0 to 1)."""
    warm = min(1.0, (step + 1) / settings.warm_up)
    return settings.learning_rate * warm * 0.5 * (1.0 + math.cos(math.pi * min(1.0, passed)))


def learn_late_positions(
    run: Run, learn: NDArray[np.uint16], settings: Settings, most_steps: int | None = None
) -> None:
    """Learn the embeddings of the positions after `window` until the deadline, and nothing else.

    They begin as the mean of the eight before them. No token sees a later one, so the first
    `window` positions of every text come out exactly as before.
    """
    import torch

    table = run.network.transformer.wpe.weight
    first, began = settings.window, time.time()
    late = torch.nn.Parameter(table[first - 8 : first].mean(0).repeat(len(table) - first, 1).data)
    optimizer = torch.optim.Adam([late], betas=settings.betas)
    run.network.requires_grad_(requires_grad=False)
    while time.time() < run.deadline and run.late_steps != most_steps:
        table.data[first:] = late.data
        table.requires_grad_()
        rows = novels.rows_in_turn(learn, run.late_steps, settings.late_batch, settings.seed + 1)
        measure.token_loss(run.network, torch.from_numpy(rows)).backward()
        late.grad, table.grad = table.grad[first:].clone(), None
        passed = (time.time() - began) / (run.deadline - began)
        optimizer.param_groups[0]["lr"] = learning_rate(settings, settings.warm_up, passed)
        optimizer.step()
        run.late_steps += 1
    table.data[first:] = late.data


def _examples(
    text: Path, folder: Path, settings: Settings
) -> tuple[NDArray[np.uint16], torch.Tensor, int]:
    """Windows to learn from, some kept back, and the id of the mark; the tokenizer is saved."""
    import torch
    from transformers import PreTrainedTokenizerFast

    learn, keep = novels.split(novels.read_paragraphs(text))
    if not (folder / "model" / "tokenizer.json").is_file():
        train_tokenizer(learn, settings).save_pretrained(folder / "model")
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder / "model")
    cached = folder / "windows.npy"
    if not cached.is_file():
        np.save(cached, novels.windows(tokenizer.backend_tokenizer, learn, settings.positions + 1))
    kept = novels.windows(tokenizer.backend_tokenizer, keep, settings.positions + 1)
    chosen = kept[np.linspace(0, len(kept) - 1, LOG_WINDOWS).astype(int)]
    return np.load(cached), torch.from_numpy(chosen.astype(np.int64)), tokenizer.bos_token_id


def _start(folder: Path, settings: Settings, mark: int, seconds: float) -> Run:
    """A new run, or the one that the folder holds a checkpoint of."""
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
        # The clock stands still while nobody trains.
        pause = time.time() - saved["saved"]
        run.began, run.deadline = saved["began"] + pause, saved["deadline"] + pause
        run.step, run.busy = saved["step"], saved["busy"]
    (folder / "settings.json").write_text(json.dumps(asdict(settings), indent=1), "utf-8")
    return run


def _step(run: Run, learn: NDArray[np.uint16], settings: Settings) -> None:
    import torch

    started = time.time()
    examples = novels.examples_of_step(learn, run.step, settings)
    loss = measure.token_loss(run.network, torch.from_numpy(examples))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(run.network.parameters(), settings.clip)
    passed = (started - run.began) / (_main_end(run, settings) - run.began)
    for group in run.optimizer.param_groups:
        group["lr"] = learning_rate(settings, run.step, passed)
    run.optimizer.step()
    run.optimizer.zero_grad()
    run.step += 1
    run.busy += time.time() - started


def _save(run: Run, folder: Path) -> None:
    """Write the checkpoint beside the old one, then put it in its place."""
    import torch

    torch.save(
        {
            "network": run.network.state_dict(),
            "optimizer": run.optimizer.state_dict(),
            "began": run.began,
            "deadline": run.deadline,
            "saved": time.time(),
            "step": run.step,
            "busy": run.busy,
        },
        folder / "checkpoint.new",
    )
    (folder / "checkpoint.new").replace(folder / "checkpoint.pt")


def _log(run: Run, kept: torch.Tensor, folder: Path) -> None:
    """Append what the run has come to, on windows kept back (window, token + 1)."""
    scores = measure.head_scores(run.network, kept[:, :-1])
    line = {
        "step": run.step,
        "late_steps": run.late_steps,
        "minutes": round((time.time() - run.began) / 60, 1),
        "busy_minutes": round(run.busy / 60, 1),
        "rate": float(f"{run.optimizer.param_groups[0]['lr']:.3g}"),
        "loss": round(measure.mean_loss(run.network, kept), 4),
        "first": np.round(scores.first.astype(float), 2).tolist(),
        "previous": np.round(scores.previous.astype(float), 2).tolist(),
    }
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
