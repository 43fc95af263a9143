"""Measure bundled/vit-scenes, and write what it does on its card.

    python -m core.model.bundled.training.scenes.card

What heads follow is measured with the definitions of the pages, on scenes that were held back from
training, and beside the untrained twin: the same architecture with fresh weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.images import cls_map, follow_images, region_share
from core.analysis.images.distance import mean_attention_distance
from core.analysis.images.follow.following import FEATURES, LOOKS, PLACES
from core.analysis.images.follow.table import FOLLOWED, MIN_CORRELATION, followers
from core.model import LoadedModel, classify, load, trace_image, untrained_twin
from core.model.box import BOX, open_box
from core.model.bundled.training.drawing import Scene, random_scene
from core.model.bundled.training.scenes.export import FOLDER
from core.model.bundled.training.scenes.pictures import HELD_BACK, PATCH, SIDE
from core.model.running.twin import TWIN_SEED
from core.model.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


SCENES = 24  # to measure heads on
NAMED_SCENES = 400  # to measure names on
COVERED = 0.5  # share of its pixels from which a patch is one of a thing


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
    measured, twin_on_things = measure(model, scenes)
    boxed = follow_images(trace_image(model, open_box(name)) for name in BOX)
    return (
        Path(__file__)
        .with_name("card.md")
        .read_text("utf-8")
        .format(
            **record["settings"] | record["last"] | _names(model),
            note=f"- **This run**: {record['note']}\n" if record["note"] else "",
            parameters=model.parameters / 1e6,
            megabytes=(FOLDER / "model.safetensors").stat().st_size / 1e6,
            pictures=record["last"]["step"] * record["settings"]["batch"],
            measured=SCENES,
            twin_seed=TWIN_SEED,
            at_least=MIN_CORRELATION,
            trained=_summary(measured.table),
            twin=_summary(measured.table, "twin_"),
            boxed=len(BOX),
            boxed_classes=_summary(boxed),
            on_things=measured.on_things.mean(),
            on_things_least=measured.on_things.min(),
            on_things_most=measured.on_things.max(),
            twin_on_things=twin_on_things,
            near=measured.distance.min(),
            far=measured.distance.max(),
            uniform=measured.uniform,
            table=_rows(measured),
            licences=_licences(),
        )
    )


def held_back(count: int, first: int = HELD_BACK) -> list[Scene]:
    """Scenes whose seeds no training used."""
    return [random_scene(seed, SIDE) for seed in range(first, first + count)]


def measure(model: LoadedModel, scenes: Sequence[Scene]) -> tuple[Measured, float]:
    """What the heads of a model do on these scenes, and how much the twin's CLS maps are on things.

    The table has what the heads of the twin follow too.
    """
    twin = untrained_twin(model)
    traces, twins = (
        [trace_image(each, scene.pixels) for scene in scenes] for each in (model, twin)
    )
    shares, twin_shares = (
        np.mean([on_things(*pair) for pair in zip(scenes, each, strict=True)], axis=0)
        for each in (traces, twins)
    )
    distances = mean_attention_distance(traces)
    table = follow_images(traces, twins=twins)
    return Measured(table, shares, distances.pixels, distances.uniform), float(twin_shares.mean())


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


def _summary(table: pd.DataFrame, of: str = "") -> str:
    """How many heads are of each class, how many follow it at all, and the strongest, in words.

    Of the twin's heads with `of` as ``"twin_"``.
    """
    counts = [f"{(table[f'{of}class'] == name).sum()} {name}" for name in FOLLOWED]
    follow = [f"{followers(table, name, of)} {name}" for name in FOLLOWED]
    strongest = [f"{table[f'{of}{name}_beyond'].max():.2f} with {name}" for name in FEATURES[LOOKS]]
    return f"{', '.join(counts)}; at all: {', '.join(follow)} (strongest: {', '.join(strongest)})"


def _rows(measured: Measured) -> str:
    """A row per head, in Markdown."""
    columns = (
        *(
            "head",
            "follows",
            "hue",
            "brightness",
            "frequency",
            "place",
            "untrained: hue",
            "untrained: brightness",
            "untrained: frequency",
        ),
        *("CLS on things", "distance, px"),
    )
    lines = [columns, ("---",) * len(columns)]
    on_things, distance = measured.on_things.ravel(), measured.distance.ravel()
    for number, row in enumerate(_records(measured.table)):
        looks = [f"{name}_beyond" for name in FEATURES[LOOKS]]
        place = max(row[f"{name}_beyond"] for name in FEATURES[PLACES])
        of_heads = (*(row[name] for name in looks), place, *(row[f"twin_{name}"] for name in looks))
        numbers = (*of_heads, on_things[number])
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
