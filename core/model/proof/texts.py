"""The texts that a network runs while it is checked: short, long, a pair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.capture import Check, Recorder
from core.model.capture.forward import Way, run_batch
from core.model.encoder_decoder import Lengths, start_id
from core.model.errors import PICK_ANOTHER, UnsupportedModelError
from core.model.proof.runs import Samples
from core.model.text.vocabulary import check_ids

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
class Texts(Samples[Text]):
    """A short text, one longer than most windows, and a pair if the network takes one."""

    tokenizer: PreTrainedTokenizerFast
    max_tokens: int  # that the network takes
    misfit = (
        "attends to more or fewer tokens than the text has, so its maps would not fit the text."
    )
    failed = "cannot be run on a text alone; it may need images or sound"
    advice = PICK_ANOTHER

    def run(self, items: Sequence[Text], way: Way, check: Check | None) -> tuple[Recorder, object]:
        """Run them together."""
        targets = [text.target for text in items if text.target is not None]
        return run_batch(
            self.network,
            self.tokenizer,
            [text.ids for text in items],
            [text.segments for text in items],
            way=way,
            check=check,
            targets=targets or None,
        )

    def lengths(self, items: Sequence[Text]) -> Lengths:
        """Their tokens, and those of their targets."""
        targets = [len(text.target) for text in items if text.target is not None]
        return Lengths([len(text.ids) for text in items], targets or None)


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
    texts = [short, long, encode(max_tokens, *PROBE_PAIR)]
    try:
        check_ids(network, texts[-1].ids, texts[-1].segments)
    except UnsupportedModelError:
        texts.pop()
    return Texts(network, texts, long, tokenizer, max_tokens)


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
