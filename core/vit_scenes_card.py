"""Measure bundled/vit-scenes, and write what it does on its card.

    python -m core.vit_scenes_card

What heads follow is measured with the definitions of the pages, on scenes that were held back from
training, and beside the same network before training (the untrained twin).
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.images import cls_map, follow_images, region_share
from core.analysis.images.distance import mean_attention_distance
from core.model import classify, load, trace_image
from core.model.box import BOX, open_box
from core.model.bundled.training.scenes.export import FOLDER, save, settings_of
from core.model.bundled.training.scenes.network import new_network
from core.model.bundled.training.scenes.pictures import HELD_BACK, PATCH, SIDE
from core.model.scenes import random_scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from core.analysis.arrays import Floats
    from core.model import LoadedModel
    from core.model.scenes import Scene
    from core.model.trace import Trace

SCENES = 24  # to measure heads on
NAMED_SCENES = 400  # to measure names on
COVERED = 0.5  # share of its pixels from which a patch is one of a thing
LOOKS = ("hue", "brightness")
PLACES = ("row", "column", "distance")
CLASSES = ("hue", "brightness", "position")


@dataclass(frozen=True, eq=False)
class Measured:
    """What the heads of one network do.

    Attributes
    ----------
    table : of :func:`core.analysis.images.follow_images`, on scenes.
    on_things : (layer, head), mean share of the CLS map's mass on patches of things over the share
        of patches that they are.
    distance : (layer, head), mean attention distance in pixels; `uniform` that of equal weights.
    """

    table: pd.DataFrame
    on_things: Floats
    distance: Floats
    uniform: float


def main() -> None:
    """Measure, and write README.md beside the weights."""
    (FOLDER / "README.md").write_text(card(), "utf-8")


def card() -> str:
    """The card of the model in `FOLDER`."""
    record = json.loads((FOLDER / "training.json").read_text("utf-8"))
    model = load(str(FOLDER))
    scenes = held_back(SCENES)
    trained, twin = measure(model, scenes), measure(untrained(), scenes)
    boxed = follow_images(trace_image(model, open_box(name)) for name in BOX)
    return (
        (FOLDER.with_name("training") / "scenes" / "card.md")
        .read_text("utf-8")
        .format(
            **record["settings"] | record["last"] | _names(model),
            note=f"- **This run**: {record['note']}\n" if record["note"] else "",
            parameters=model.parameters / 1e6,
            megabytes=(FOLDER / "model.safetensors").stat().st_size / 1e6,
            pictures=record["last"]["step"] * record["settings"]["batch"],
            measured=SCENES,
            trained=_summary(trained.table),
            twin=_summary(twin.table),
            boxed=len(BOX),
            boxed_classes=_summary(boxed),
            on_things=trained.on_things.mean(),
            on_things_least=trained.on_things.min(),
            on_things_most=trained.on_things.max(),
            twin_on_things=twin.on_things.mean(),
            near=trained.distance.min(),
            far=trained.distance.max(),
            uniform=trained.uniform,
            table=_rows(trained, twin),
            licences=_licences(),
        )
    )


def held_back(count: int, first: int = HELD_BACK) -> list[Scene]:
    """Scenes whose seeds no training used."""
    return [random_scene(seed, SIDE) for seed in range(first, first + count)]


def untrained() -> LoadedModel:
    """The same network before training."""
    record = json.loads((FOLDER / "training.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        save(new_network(settings_of(record["settings"])), Path(folder))
        return load(folder)


def measure(model: LoadedModel, scenes: Sequence[Scene]) -> Measured:
    """What the heads of a model do on these scenes."""
    traces = [trace_image(model, scene.pixels) for scene in scenes]
    shares = [on_things(scene, trace) for scene, trace in zip(scenes, traces, strict=True)]
    distances = mean_attention_distance(traces)
    return Measured(
        follow_images(traces), np.mean(shares, axis=0), distances.pixels, distances.uniform
    )


def on_things(scene: Scene, trace: Trace) -> Floats:
    """How much more of the CLS map is on things than uniform attention would put, (layer, head)."""
    region = scene.shares(PATCH) >= COVERED
    shares: Floats = region_share(cls_map(trace).values, region) / region.mean()
    return shares


def _names(model: LoadedModel) -> dict[str, float]:
    """How often the likeliest name is that of a thing in the scene, and how many of them five find.

    `chance` is that of a name drawn at random.
    """
    likeliest, found, chance = [], [], []
    for scene in held_back(NAMED_SCENES, HELD_BACK + 1_000):
        truth = {thing.label for thing in scene.things}
        names = [name for name, _ in classify(model, scene.pixels)]
        likeliest.append(names[0] in truth)
        found.append(len(truth & set(names)) / len(truth))
        chance.append(len(truth) / len(model.network.config.id2label))
    return {
        "named": float(np.mean(likeliest)),
        "found": float(np.mean(found)),
        "chance": float(np.mean(chance)),
        "named_scenes": NAMED_SCENES,
    }


def _summary(table: pd.DataFrame) -> str:
    """How many heads are of each class, and the strongest correlations, in words."""
    counts = [f"{(table['class'] == name).sum()} {name}" for name in CLASSES]
    strongest = [f"{table[f'{name}_beyond'].max():.2f} with {name}" for name in LOOKS]
    return f"{', '.join(counts)} (strongest: {' and '.join(strongest)})"


def _rows(trained: Measured, twin: Measured) -> str:
    """A row per head, in Markdown."""
    columns = (
        *(
            "head",
            "follows",
            "hue",
            "brightness",
            "place",
            "untrained: hue",
            "untrained: brightness",
        ),
        *("CLS on things", "distance, px"),
    )
    lines = [columns, ("---",) * len(columns)]
    on_things, distance = trained.on_things.ravel(), trained.distance.ravel()
    for number, (row, before) in enumerate(
        zip(_records(trained.table), _records(twin.table), strict=True)
    ):
        place = max(row[f"{name}_beyond"] for name in PLACES)
        numbers = (
            *(row["hue_beyond"], row["brightness_beyond"], place),
            *(before["hue_beyond"], before["brightness_beyond"], on_things[number]),
        )
        head = f"L{row['layer']} H{row['head']}"
        shown = (f"{value:.2f}" for value in numbers)
        lines.append((head, str(row["class"]), *shown, f"{distance[number]:.0f}"))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for _, row in table.iterrows()]


def _licences() -> str:
    """A row per photograph of the box, in Markdown."""
    lines = [("picture", "author", "licence", "source"), ("---",) * 4]
    lines += [
        (image.name, image.author, image.licence, image.source)
        for image in BOX.values()
        if image.group == "photograph"
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
