"""Write a finished run as the bundled model: float16 weights, tokenizer, card.

python -m core.model.bundled.training.export_gpt2_novels --text novels.txt.gz --run FOLDER
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.model.bundled.training import measure, novels
from core.model.bundled.training.card import Losses, write_card
from core.model.bundled.training.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

FOLDER = Path(__file__).parents[1] / "gpt2_novels"
LEARNED_WINDOWS = 512  # enough for the loss on what was learned from, to two decimals


def main() -> None:
    """Read the arguments and export."""
    parser = argparse.ArgumentParser(description="Export gpt2-novels.")
    parser.add_argument("--text", type=Path, required=True, help="what it was trained on")
    parser.add_argument("--run", type=Path, required=True, help="folder of the training run")
    parser.add_argument("--note", default="", help="for the card: how the run went")
    arguments = parser.parse_args()
    export(arguments.text, arguments.run, note=arguments.note)


def export(text: Path, run: Path, folder: Path = FOLDER, note: str = "") -> None:
    """Write config.json, model.safetensors, the tokenizer and README.md into `folder`."""
    import torch
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

    settings = Settings(**json.loads((run / "settings.json").read_text("utf-8")))
    tokenizer = PreTrainedTokenizerFast.from_pretrained(run / "model")
    tokenizer.save_pretrained(folder)
    GPT2LMHeadModel.from_pretrained(run / "model", dtype=torch.float16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)  # it is not for writing
    network = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    learn, kept = _windows(text, tokenizer, settings)
    losses = _losses(network, learn, kept, settings)
    write_card(folder, run / "log.jsonl", settings, losses, kept, note)


def _windows(
    text: Path, tokenizer: PreTrainedTokenizerFast, settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some windows learned from and all kept back, ids (window, token)."""
    learn, keep = novels.split(novels.read_paragraphs(text))
    length = settings.positions + 1
    some = learn[:: max(1, len(learn) // 8)]
    learned = novels.windows(tokenizer.backend_tokenizer, some, length).astype(np.int64)
    kept = novels.windows(tokenizer.backend_tokenizer, keep, length).astype(np.int64)
    return learned[np.linspace(0, len(learned) - 1, LEARNED_WINDOWS).astype(int)], kept


def _losses(
    network: GPT2LMHeadModel,
    learn: NDArray[np.int64],
    kept: NDArray[np.int64],
    settings: Settings,
) -> Losses:
    """Losses of the network; the one by frequency adds one to every count."""
    import torch

    whole = torch.from_numpy(kept)
    learn, kept = learn[:, : settings.window + 1], kept[:, : settings.window + 1]
    counts = np.bincount(learn[:, 1:].ravel(), minlength=settings.vocabulary) + 1.0
    return Losses(
        kept=measure.mean_loss(network, torch.from_numpy(kept)),
        kept_long=measure.mean_loss(network, whole),
        learned=measure.mean_loss(network, torch.from_numpy(learn)),
        frequency=float(-np.log(counts / counts.sum())[kept[:, 1:]].mean()),
    )


if __name__ == "__main__":
    main()
