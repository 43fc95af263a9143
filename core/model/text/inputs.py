"""A text, or two, as a model gets it: its ids, its tokens, and what had to be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.errors import EmptyTextError
from core.model.refusal import refusing_to
from core.model.text.languages import Languages, speaking
from core.model.text.tokens import read_tokens
from core.model.trace import Patches, Token

if TYPE_CHECKING:
    from tokenizers import Encoding

    from core.model.encoder_decoder import DecoderInput
    from core.model.running.loaded import LoadedModel

# Tokenizers need 250 bytes of memory per byte of text, so they get at most this many characters for
# each token the model takes. Words and word pieces have 2 to 20 characters; longer ones are blanks,
# lines of dashes, or a thousand letters that WordPiece turns into one unknown token. Such a text
# may end before the model's limit, which is reported like any other cut.
CHARACTERS_PER_TOKEN = 32


@dataclass(frozen=True)
class TextInput:
    """One text ready for the model: its ids and segments, its tokens, and what was cut.

    `dropped` and `cut_characters` are as in :class:`core.model.trace.Trace`. `target` is what the
    decoder of an encoder-decoder reads; without one, its encoder runs alone. An image has `patches`
    and tokens, and no ids.
    """

    ids: list[int]
    segments: list[int]
    tokens: tuple[Token, ...]
    dropped: int
    cut_characters: int = 0
    target: DecoderInput | None = None
    patches: Patches | None = None

    @property
    def target_ids(self) -> list[int]:
        """The ids of the target; empty without one."""
        return [] if self.target is None else self.target.ids


@refusing_to("run")
def encode(
    model: LoadedModel,
    text: str,
    pair: str | None,
    max_tokens: int | None,
    languages: Languages | None = None,
) -> TextInput:
    """A text or a pair as the model gets it; parameters and errors as for :func:`trace_text`."""
    limit = usable_tokens(model, max_tokens)
    pair = pair if pair and pair.strip() else None
    whole = len(text) + len(pair or "")
    text, pair = cut_characters(text, limit), None if pair is None else cut_characters(pair, limit)
    cut = whole - len(text) - len(pair or "")
    with speaking(model, languages):
        encoded = model.tokenizer(text, pair, verbose=False)
        length = len(encoded["input_ids"])
        if length > limit:
            encoded = model.tokenizer(text, pair, verbose=False, truncation=True, max_length=limit)
        encoding: Encoding = encoded.encodings[0]
        tokens = read_tokens(model.tokenizer, encoding, text, pair)
    if all(token.special for token in tokens):
        raise EmptyTextError(
            "There is nothing to show: the text has only special tokens.", "Type a sentence."
        )
    segments = encoded.get("token_type_ids", [0] * len(tokens))
    return TextInput(encoding.ids, segments, tokens, max(0, length - len(tokens)), cut)


def cut_characters(text: str, limit: int) -> str:
    """The characters the tokenizer gets; half surrogate pairs, on which it fails, are replaced."""
    return text[: limit * CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")


@refusing_to("run")
def token_lengths(model: LoadedModel, texts: Sequence[str], max_tokens: int | None) -> list[int]:
    """How many tokens of each text the model gets, special tokens included."""
    limit = usable_tokens(model, max_tokens)
    lengths = []
    for text in texts:
        usable = cut_characters(text, limit)
        with model.tokenizer_lock:
            ids = model.tokenizer(usable, verbose=False)["input_ids"]
        lengths.append(min(limit, len(ids)))
    return lengths


def usable_tokens(model: LoadedModel, max_tokens: int | None) -> int:
    """The maximum number of tokens of a text that the model gets."""
    return min(model.max_tokens, max_tokens or model.max_tokens)
