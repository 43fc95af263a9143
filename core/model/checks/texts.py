"""The texts that a network runs while it is checked: short, long, a pair."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.checks.vocabulary import check_ids
from core.model.encoder_decoder.targets import start_id
from core.model.errors import UnsupportedModelError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

PROBE_TEXT = "The quick brown fox jumps over the lazy dog, and nobody minds."
PROBE_PAIR = ("Where is the dog?", "It jumps over the fox.")
_PADDING = 8  # tokens at least, of the short text beside the long one
LONG_TOKENS = 40  # of the long text, unless the model's windows ask for more
MAX_LONG_TOKENS = 520  # windows are mostly 128 or 512 tokens, or longer than most texts here
_WINDOW = re.compile(r"window|chunk|local_attention")
# Of networks whose queries choose that many keys. Some do so only for attention functions that they
# know by name, and no text of the check is as long as the number (2,048) mostly is.
_CHOSEN = re.compile(r"^index_topk")


@dataclass(frozen=True)
class Text:
    """Token ids and segments, one of each per token, and what a decoder reads, if there is one."""

    ids: list[int]
    segments: list[int]
    target: list[int] | None = None


@dataclass(frozen=True)
class Texts:
    """A short text, one longer than most windows, and a pair if the network takes one."""

    short: Text
    long: Text
    pair: Text | None

    @property
    def all(self) -> list[Text]:
        """The short one first."""
        return [self.short, self.long, *([] if self.pair is None else [self.pair])]


def texts_for(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> Texts:
    """The texts of a network that takes at most so many tokens.

    Raises
    ------
    UnsupportedModelError
        When the tokenizer does not belong to the network.
    """

    def encode(tokens: int, *texts: str) -> Text:
        text = _encode(tokenizer, tokens, *texts)
        return _with_target(text, network.config) if network.config.is_encoder_decoder else text

    short = encode(max_tokens // 2, PROBE_TEXT)
    check_ids(network, short.ids)
    length = _long_length(network.config, len(short.ids), max_tokens)
    long = encode(length, " ".join([PROBE_TEXT] * length))
    pair = encode(max_tokens, *PROBE_PAIR)
    try:
        check_ids(network, pair.ids, pair.segments)
    except UnsupportedModelError:
        return Texts(short, long, None)
    return Texts(short, long, pair)


def chooses_keys(config: PreTrainedConfig) -> bool:
    """Whether queries choose their keys, by a setting that the texts may not reach."""
    return bool(_sizes(config.to_dict(), _CHOSEN))


def _encode(
    tokenizer: PreTrainedTokenizerFast, tokens: int, text: str, pair: str | None = None
) -> Text:
    """At most so many tokens of a text, or of two."""
    encoded = tokenizer(text, pair, verbose=False, truncation=True, max_length=tokens)
    ids: list[int] = encoded["input_ids"]
    return Text(ids, encoded.get("token_type_ids", [0] * len(ids)))


def _with_target(text: Text, config: PreTrainedConfig) -> Text:
    """With half of its own tokens for the decoder: a length that tells whose tokens attend."""
    half = text.ids[: max(1, len(text.ids) // 2 - 1)]
    return Text(text.ids, text.segments, [start_id(config, text.ids), *half])


def _long_length(config: PreTrainedConfig, short: int, max_tokens: int) -> int:
    """Tokens of the long text: more than the short one has and, if possible, than any window."""
    windows = [size + 2 for size in _sizes(config.to_dict(), _WINDOW)]
    reached = [size for size in windows if size <= MAX_LONG_TOKENS]
    return min(max_tokens, max([LONG_TOKENS, short + _PADDING, *reached]))


def _sizes(settings: object, names: re.Pattern[str], name: str = "") -> list[int]:
    """Every setting of such a name that counts tokens, in the model's parts too."""
    if isinstance(settings, dict):
        parts = (_sizes(value, names, str(key)) for key, value in settings.items())
        return [size for part in parts for size in part]
    if isinstance(settings, bool) or not isinstance(settings, int) or settings < 1:
        return []
    return [settings] if names.search(name) else []
