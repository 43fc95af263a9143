"""The models in the catalogue, as ``models.toml`` has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.vocabulary import Modality

_FILE = Path(__file__).with_name("models.toml")
Group = Literal["encoder", "decoder", "multilingual", "encoder-decoder", "vision"]


@dataclass(frozen=True)
class ModelSpec:
    """One model in the catalogue.

    Attributes
    ----------
    name : what people pick, and what a link carries.
    title : the name in words.
    good_for : one or two sentences that help to choose.
    group : beside which models it stands.
    size_mb : size of the safetensors files in megabytes (10^6 bytes), as they were published when
        they were entered here, rounded; the hub's own number is shown before a download.
    bytes_per_weight : of the type of number in which the files hold the weights.
    repos : ids on the model hub, the current one first; empty for a bundled model.
    gated : whether the hub gives it only to people who have accepted its licence there.
    package, folder : for a bundled model, the package that carries its folder.
    pins : for a bundled model, the sha256 of each of its files.
    begin : layer and head, from 1, that pages of images show first; None where nobody knows better
        than the last layer.
    """

    name: str
    title: str
    good_for: str
    group: Group
    size_mb: int
    repos: tuple[str, ...] = ()
    bytes_per_weight: int = 4
    gated: bool = False
    package: str = ""
    folder: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    begin: tuple[int, int] | None = None

    @property
    def bundled(self) -> bool:
        """Whether the weights come with the installation."""
        return bool(self.package)

    @property
    def modality(self) -> Modality:
        """What the model is given. Of CLIP, only the part that reads images stands here."""
        return "image" if self.group == "vision" else "text"

    @property
    def weights(self) -> int:
        """How many numbers the files hold, about."""
        return self.size_mb * 10**6 // self.bytes_per_weight


def _read(entry: Mapping[str, Any]) -> ModelSpec:
    lists = {name: tuple(value) for name, value in entry.items() if isinstance(value, list)}
    return ModelSpec(**{**entry, **lists})


CATALOG = tuple(map(_read, tomllib.loads(_FILE.read_text("utf-8"))["models"]))
