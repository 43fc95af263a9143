"""Tiny models whose weights were set by hand, and what each of their heads does.

They are the ground truth for methods that judge heads. Load one by its name, such as
``load("bundled/planted-induction")``; lists of models do not offer them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = [
    "HEADS",
    "LAYERS",
    "PLANTED",
    "Example",
    "Method",
    "PlantedHead",
    "PlantedModel",
    "Role",
]

Role = Literal["previous", "induction", "duplicate", "sink", "twin", "saturated", "empty", "idle"]
Method = Literal["zero", "mean", "resample", "direct", "attribution", "attention", "norm"]

LAYERS, HEADS = 2, 4  # of every planted model
_TRUTH = Path(__file__).with_name("truth.toml")


@dataclass(frozen=True)
class Example:
    """A text with its next word.

    Attributes
    ----------
    text : the begin token comes before it.
    word : what comes next, with a probability above 0.9.
    contrast : a text of as many tokens after which `word` is not expected, to resample from.
    """

    text: str
    word: str
    contrast: str


@dataclass(frozen=True)
class PlantedHead:
    """What a head does.

    Attributes
    ----------
    place : layer and head, from 1.
    role : "previous", "twin" and "saturated" attend to the previous token, "induction" to the token
        after an earlier copy of the last one, "duplicate" and "empty" to that copy, "sink" to the
        begin token. "idle" has small random weights.
    needed : whether the next word depends on it; on one of two twins, where both would be gone.
    misjudged_by : methods that miss it where it is needed, or point to it where it is not. Each
        judges a head by itself, on the logit of `word` above the mean of all logits: "zero",
        "mean" and "resample" put something else in place of its output, in all tokens; "direct" is
        what it adds by itself; "attribution" is the gradient by its output times (mean - output);
        "attention" is its largest weight in the row of the last token; "norm" that of its output
        there.
    """

    place: tuple[int, int]
    role: Role
    needed: bool = False
    misjudged_by: tuple[Method, ...] = ()

    @property
    def label(self) -> str:
        """As people see it: "L1 H2"."""
        return "L{} H{}".format(*self.place)


@dataclass(frozen=True)
class PlantedModel:
    """What a planted model was made to do.

    Attributes
    ----------
    name : what it is loaded by.
    about : what it does, in a few sentences.
    heads : all of them, in order of layer and head.
    examples : at least three.
    """

    name: str
    about: str
    heads: tuple[PlantedHead, ...]
    examples: tuple[Example, ...]

    @property
    def needed(self) -> tuple[PlantedHead, ...]:
        """The heads without which the prediction is gone."""
        return tuple(head for head in self.heads if head.needed)


def _read(entry: Mapping[str, Any]) -> PlantedModel:
    named = {tuple(each["place"]): each for each in entry["heads"]}
    places = [(layer, head) for layer in range(1, LAYERS + 1) for head in range(1, HEADS + 1)]
    heads = ({"role": "idle", **named.get(place, {}), "place": place} for place in places)
    return PlantedModel(
        name=f"bundled/planted-{entry['name']}",
        about=entry["about"],
        heads=tuple(
            PlantedHead(**{**head, "misjudged_by": tuple(head.get("misjudged_by", ()))})
            for head in heads
        ),
        examples=tuple(Example(**each) for each in entry["examples"]),
    )


# The planted models by name, such as "bundled/planted-induction".
PLANTED: Mapping[str, PlantedModel] = {
    model.name: model for model in map(_read, tomllib.loads(_TRUTH.read_text("utf-8"))["models"])
}
