"""Write a finished run as the bundled model: float16 weights, labels, and how to prepare an image.

    python -m core.model.bundled.training.scenes.export --run FOLDER

The card is written from what :mod:`core.model.bundled.training.scenes.card` measures of the result.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.model.bundled.training.scenes.network import Phase, Settings, new_network
from core.model.bundled.training.scenes.pictures import SIDE

if TYPE_CHECKING:
    from transformers import ViTForImageClassification

FOLDER = Path(__file__).parents[2] / "vit_scenes"
_BILINEAR = 2  # PIL.Image.Resampling
_PROCESSOR = {
    "image_processor_type": "ViTImageProcessor",
    "do_resize": True,
    "size": {"height": SIDE, "width": SIDE},
    "resample": _BILINEAR,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def main() -> None:
    """Read the arguments and export."""
    parser = argparse.ArgumentParser(description="Export vit-scenes.")
    parser.add_argument("--run", type=Path, required=True, help="folder of the training run")
    parser.add_argument("--note", default="", help="for the card: how the run went")
    arguments = parser.parse_args()
    export(arguments.run, note=arguments.note)


def export(run: Path, folder: Path = FOLDER, note: str = "") -> None:
    """Write the trained network of a run, and ``training.json``: its settings and last figures.

    `note` is for the card, if the run did not go as the settings say.
    """
    import torch

    settings = read_settings(run / "settings.json")
    network = new_network(settings)
    saved = torch.load(run / "checkpoint.pt", weights_only=True)
    network.load_state_dict(saved["network"])
    save(network, folder)
    last = json.loads((run / "log.jsonl").read_text("utf-8").splitlines()[-1])
    values = json.loads((run / "settings.json").read_text("utf-8"))
    record = {"settings": values, "last": last, "note": note}
    (folder / "training.json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def save(network: ViTForImageClassification, folder: Path) -> None:
    """Write a network, trained or not, in float16, as :func:`core.model.load` opens it."""
    import torch

    network.to(torch.float16).save_pretrained(folder)
    text = json.dumps(_PROCESSOR, indent=2) + "\n"
    (folder / "preprocessor_config.json").write_text(text, "utf-8")


def read_settings(path: Path) -> Settings:
    """The settings of a run, from what `train` wrote."""
    return settings_of(json.loads(path.read_text("utf-8")))


def settings_of(values: dict[str, Any]) -> Settings:
    """The same from what JSON makes of them, which has lists for tuples."""
    phases = {
        name: Phase(**values[name] | {"shares": tuple(values[name]["shares"])})
        for name in ("early", "late")
    }
    return Settings(**values | phases | {"betas": tuple(values["betas"])})


if __name__ == "__main__":
    main()
