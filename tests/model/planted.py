"""Tiny models whose weights were set by hand: the ground truth for methods that judge heads."""

from __future__ import annotations

import atexit
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import GPT2Config, PreTrainedTokenizerFast

Role = Literal["previous", "induction", "duplicate", "sink", "twin", "saturated", "empty", "idle"]

LAYERS, HEADS = 2, 4  # of every planted model


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
    """

    place: tuple[int, int]
    role: Role
    needed: bool = False

    @property
    def label(self) -> str:
        """As people see it: "L1 H2"."""
        return "L{} H{}".format(*self.place)


@dataclass(frozen=True)
class PlantedModel:
    """What the model in a folder was made to do; all of its heads, in order of layer and head."""

    name: str
    heads: tuple[PlantedHead, ...]
    examples: tuple[Example, ...]

    @property
    def folder(self) -> str:
        """What it is loaded from."""
        return str(_written() / self.name)


@cache
def _written() -> Path:
    """The folder of all planted models, written once a process."""
    from tests.tools.making.planted import MODELS, POSITIONS, VOCABULARY, WIDTH, weights

    folder = TemporaryDirectory(prefix="headscope-planted-")
    atexit.register(folder.cleanup)
    tokenizer = _tokenizer(VOCABULARY, POSITIONS)
    config = GPT2Config(
        architectures=["GPT2LMHeadModel"],
        vocab_size=len(VOCABULARY),
        n_positions=POSITIONS,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        n_inner=1,
        activation_function="gelu_pytorch_tanh",
        bos_token_id=0,
        eos_token_id=0,
        tie_word_embeddings=False,
    )
    for name in MODELS:
        place = Path(folder.name) / name
        config.save_pretrained(place)
        tokenizer.save_pretrained(place)
        save_file(weights(name), place / "model.safetensors", {"format": "pt"})
    return Path(folder.name)


def _tokenizer(vocabulary: Sequence[str], positions: int) -> PreTrainedTokenizerFast:
    """A token for each word, in small letters, after the begin token."""
    begin, unknown, *_ = vocabulary
    ids = {word: index for index, word in enumerate(vocabulary)}
    core = Tokenizer(models.WordLevel(ids, unk_token=unknown))
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A", pair=f"{begin} $A $B:1", special_tokens=[(begin, 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token=begin,
        eos_token=begin,
        unk_token=unknown,
        model_max_length=positions,
    )


def _read(entry: Mapping[str, Any]) -> PlantedModel:
    named = {tuple(each["place"]): each for each in entry["heads"]}
    places = [(layer, head) for layer in range(1, LAYERS + 1) for head in range(1, HEADS + 1)]
    heads = ({"role": "idle", **named.get(place, {}), "place": place} for place in places)
    return PlantedModel(
        entry["name"],
        tuple(PlantedHead(**head) for head in heads),
        tuple(Example(**each) for each in entry["examples"]),
    )


_TRUTH = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# The planted models by name, such as "induction".
PLANTED: Mapping[str, PlantedModel] = {model.name: model for model in map(_read, _TRUTH["models"])}
