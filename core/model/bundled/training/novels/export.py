"""Write a finished run as the bundled model: float16 weights, tokenizer, and a measured card.

python -m core.model.bundled.training.novels.export --text novels.txt.gz --run FOLDER
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.training.novels import books, measure
from core.model.bundled.training.novels.network import Settings
from core.model.loading import load
from core.model.running.tracing import trace_corpus
from core.model.trace import Trace

if TYPE_CHECKING:
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast


FOLDER = Path(__file__).parents[2] / "gpt2_novels"
TRAIN_WINDOWS = 512  # enough for the loss on training text, to two decimals
TRIAL_TOKENS = 64
COLUMNS = (
    *("head", "first", "previous", "self", "entropy", "induction"),
    *("mean norm of q", "mean norm of k", "norm of v, first to median", "first, values counted"),
)


def main() -> None:
    """Read the arguments and export."""
    parser = argparse.ArgumentParser(description="Export gpt2-novels.")
    parser.add_argument("--text", type=Path, required=True, help="what it was trained on")
    parser.add_argument("--run", type=Path, required=True, help="folder of the training run")
    parser.add_argument("--note", default="", help="for the card: how the run went")
    arguments = parser.parse_args()
    export(arguments.text, arguments.run, note=arguments.note)


def export(text: Path, run: Path, folder: Path = FOLDER, note: str = "") -> None:
    """Write config.json, model.safetensors, the tokenizer and README.md into `folder`.

    Parameters
    ----------
    text, run : what the model was trained on, and the folder of the training run.
    note : for the card, if the run did not go as the settings say.
    """
    import torch
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

    settings = Settings(**json.loads((run / "settings.json").read_text("utf-8")))
    tokenizer = PreTrainedTokenizerFast.from_pretrained(run / "model")
    tokenizer.save_pretrained(folder)
    GPT2LMHeadModel.from_pretrained(run / "model", dtype=torch.float16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)  # it is not for writing
    network = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    train, held_out = _windows(text, tokenizer, settings)
    last = json.loads((run / "log.jsonl").read_text("utf-8").splitlines()[-1])
    rows = _table(network, folder, held_out[:, :TRIAL_TOKENS])
    rule = ("---",) * len(COLUMNS)
    card = Path(__file__).with_name("card.md").read_text("utf-8")
    (folder / "README.md").write_text(
        card.format(
            **asdict(settings) | last | _losses(network, train, held_out, settings),
            parameters=network.num_parameters() / 1e6,
            megabytes=(folder / "model.safetensors").stat().st_size / 1e6,
            tokens=last["step"] * settings.batch * settings.window / 1e6,
            note=f"- **This run**: {note}\n" if note else "",
            windows=len(held_out),
            trial=TRIAL_TOKENS,
            uniform=measure.uniform_first(TRIAL_TOKENS),
            over=sum(float(row[1]) > 0.5 for row in rows),
            total=len(rows),
            table="\n".join("| " + " | ".join(row) + " |" for row in [COLUMNS, rule, *rows]),
        ),
        "utf-8",
    )


def _windows(
    text: Path, tokenizer: PreTrainedTokenizerFast, settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some training windows and all held-out ones, ids (window, token)."""
    train, held_out = books.split(books.read_paragraphs(text))
    some = train[:: max(1, len(train) // 8)]
    train_ids, held_out_ids = (
        books.windows(tokenizer.backend_tokenizer, stretches, settings.positions + 1)
        for stretches in (some, held_out)
    )
    chosen = np.linspace(0, len(train_ids) - 1, TRAIN_WINDOWS).astype(int)
    return train_ids[chosen].astype(np.int64), held_out_ids.astype(np.int64)


def _losses(
    network: GPT2LMHeadModel,
    train: NDArray[np.int64],
    held_out: NDArray[np.int64],
    settings: Settings,
) -> dict[str, float]:
    """Mean nats per token, by the names on the card.

    `frequency` is the loss of guessing by how frequent each token is, with one added to each count.
    """
    import torch

    short_train, short = train[:, : settings.window + 1], held_out[:, : settings.window + 1]
    counts = np.bincount(short_train[:, 1:].ravel(), minlength=settings.vocabulary) + 1.0
    loss = measure.mean_loss(network, torch.from_numpy(short))
    return {
        "loss": loss,
        "perplexity": float(np.exp(loss)),
        "long_loss": measure.mean_loss(network, torch.from_numpy(held_out)),
        "train_loss": measure.mean_loss(network, torch.from_numpy(short_train)),
        "frequency_loss": float(-np.log(counts / counts.sum())[short[:, 1:]].mean()),
    }


def _table(network: GPT2LMHeadModel, folder: Path, ids: NDArray[np.int64]) -> list[tuple[str, ...]]:
    """A row per head, as in `COLUMNS`; the last four come from the app's traces of the windows."""
    import torch

    model = load(str(folder))
    texts = [model.tokenizer.decode(row[1:]) for row in ids]
    traces = trace_corpus(model, texts, max_tokens=TRIAL_TOKENS)
    columns = (
        *measure.head_scores(network, torch.from_numpy(ids)),
        measure.induction_scores(network),
        *np.mean([_norms(trace) for trace in traces], axis=0),
    )
    return [
        (f"L{layer + 1} H{head + 1}", *(f"{column[layer, head]:.2f}" for column in columns))
        for layer in range(model.layers)
        for head in range(model.heads)
    ]


def _norms(trace: Trace) -> NDArray[np.float64]:
    """The last four columns for one trace, (4, layer, head)."""
    values = np.linalg.norm(trace.values, axis=-1)  # (layer, head, token)
    moved = trace.attention() * values[:, :, None]
    share = moved[..., 1:, 0] / moved[..., 1:, :].sum(axis=-1)
    return np.array(
        (
            np.linalg.norm(trace.queries, axis=-1).mean(axis=-1),
            np.linalg.norm(trace.keys, axis=-1).mean(axis=-1),
            values[..., 0] / np.median(values[..., 1:], axis=-1),
            share.mean(axis=-1),
        ),
        dtype=np.float64,
    )


if __name__ == "__main__":
    main()
