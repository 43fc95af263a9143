"""Write the folders of all planted models.

python -m core.model.bundled.training.planted
"""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import Any

from core.model.bundled.planted import HEADS, LAYERS, PLANTED, PlantedModel
from core.model.bundled.training.planted.models import MODELS
from core.model.bundled.training.planted.network import POSITIONS, WIDTH
from core.model.bundled.training.planted.words import BEGIN, UNKNOWN, VOCABULARY, make_tokenizer

FOLDER = Path(__file__).parents[2] / "planted"
_WIDTH_OF_TEXT = 100  # characters, in the cards
_CONFIG = {
    "activation_function": "gelu_pytorch_tanh",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.0,
    "bos_token_id": 0,
    "dtype": "float16",
    "embd_pdrop": 0.0,
    "eos_token_id": 0,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_embd": WIDTH,
    "n_head": HEADS,
    "n_inner": 1,
    "n_layer": LAYERS,
    "n_positions": POSITIONS,
    "resid_pdrop": 0.0,
    "tie_word_embeddings": False,
    "vocab_size": len(VOCABULARY),
}
_TOKENIZER_CONFIG = {
    "bos_token": BEGIN,
    "clean_up_tokenization_spaces": False,
    "eos_token": BEGIN,
    "model_max_length": POSITIONS,
    "tokenizer_class": "TokenizersBackend",
    "unk_token": UNKNOWN,
}


def main() -> None:
    """Read the arguments and write."""
    parser = argparse.ArgumentParser(description="Write the planted models.")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where their folders lie")
    write(parser.parse_args().folder)


def write(folder: Path = FOLDER) -> None:
    """Write config.json, model.safetensors, the tokenizer and README.md of each into `folder`."""
    from safetensors.numpy import save

    for name, make in MODELS.items():
        own = folder / name
        own.mkdir(parents=True, exist_ok=True)
        (own / "model.safetensors").write_bytes(save(make().weights(), {"format": "pt"}))
        make_tokenizer().save(str(own / "tokenizer.json"))
        _write_settings(own / "config.json", _CONFIG)
        _write_settings(own / "tokenizer_config.json", _TOKENIZER_CONFIG)
        card = _card(name, PLANTED[f"bundled/planted-{name}"])
        (own / "README.md").write_text(card, "utf-8", newline="\n")


def _write_settings(path: Path, settings: dict[str, Any]) -> None:
    path.write_text(json.dumps(settings, indent=2) + "\n", "utf-8", newline="\n")


def _card(name: str, model: PlantedModel) -> str:
    rows = (
        (
            head.label,
            head.role,
            "yes" if head.needed else "no",
            ", ".join(head.misjudged_by) or "none",
        )
        for head in model.heads
        if head.role != "idle"
    )
    template = Path(__file__).with_name("card.md").read_text("utf-8")
    return template.format(
        name=name,
        layers=LAYERS,
        heads=HEADS,
        width=WIDTH,
        words=len(VOCABULARY) - 2,
        positions=POSITIONS,
        about=textwrap.fill(model.about, _WIDTH_OF_TEXT),
        rows="\n".join("| " + " | ".join(row) + " |" for row in rows),
        examples="\n".join(f"- “{each.text}” → “{each.word}”" for each in model.examples),
    )


if __name__ == "__main__":
    main()
