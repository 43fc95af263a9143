"""What the decoder of an encoder-decoder gets, and which attention calls are its own.

A decoder sees its text one token late: it begins with a start token, and each token is there to
predict the next. So the last special token of a target, which ends it, is never read. Its query
tokens attend to one another and, in cross attention, to the encoder's tokens. Calls are told apart
by the lengths of a source and a target that differ; the order of calls never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from core.model.capture.calls import Call
from core.model.text.languages import Languages, speaking
from core.model.text.tokens import describe_ids, read_tokens
from core.model.trace import AttentionType, Token

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedConfig, PreTrainedModel

    from core.model.running.loaded import LoadedModel

MAX_ANSWER = 64  # tokens
_WRAPPED = {"mbart", "plbart"}  # their decoders begin with the last label, a language or the end
# Whose words the decoder read: the user's, the model's own, or none but its start token.
Origin = Literal["given", "answer", "start"]


@dataclass(frozen=True)
class DecoderInput:
    """What a decoder reads.

    Attributes
    ----------
    ids, tokens : one per position, the start token first.
    origin : where it comes from.
    dropped : tokens cut off because the text is longer than the decoder takes.
    """

    ids: list[int]
    tokens: tuple[Token, ...]
    origin: Origin
    dropped: int = 0


def start_id(config: PreTrainedConfig, label_ids: Sequence[int] = ()) -> int:
    """The token that a decoder begins with: from the settings, or in MBart the last label."""
    if config.model_type in _WRAPPED and label_ids:
        return label_ids[-1]
    settings = (config, getattr(config, "decoder", None))
    for part, name in zip(settings, ("decoder_start_token_id", "bos_token_id"), strict=True):
        token = getattr(part, name, None)
        if isinstance(token, int):
            return token
    fallback = getattr(config, "pad_token_id", None)
    return fallback if isinstance(fallback, int) else 0


def read_target(
    model: LoadedModel, text: str, limit: int, languages: Languages | None = None
) -> DecoderInput:
    """A text as the decoder gets it, at most `limit` tokens of it."""
    with speaking(model, languages):
        encoding: Encoding = model.tokenizer(text_target=text, verbose=False).encodings[0]
        tokens = read_tokens(model.tokenizer, encoding, text, None)
        first = start_id(model.network.config, encoding.ids)
        (start,) = describe_ids(model.tokenizer, [first])
    if tokens and tokens[-1].special:
        tokens = tokens[:-1]
    if tokens and tokens[0].id == first:  # the tokenizer has added it already
        tokens = tokens[1:]
    shifted = [replace(each, position=i) for i, each in enumerate((start, *tokens))]
    used = tuple(shifted[:limit])
    return DecoderInput([each.id for each in used], used, "given", len(shifted) - len(used))


def answered(model: LoadedModel, ids: Sequence[int]) -> DecoderInput:
    """The model's own answer as decoder input; `ids` begin with the start token.

    Without an answer only the start token is read.
    """
    end = model.tokenizer.eos_token_id
    ids = list(ids)
    if len(ids) > 1 and ids[-1] == end:
        ids = ids[:-1]
    with model.tokenizer_lock:
        tokens = describe_ids(model.tokenizer, ids)
    return DecoderInput(ids, tokens, "answer" if len(ids) > 1 else "start")


def start_of(model: LoadedModel, languages: Languages | None) -> int:
    """The token that the decoder begins with, in MBart the language that it writes."""
    with speaking(model, languages):
        labels = model.tokenizer(text_target="", verbose=False)["input_ids"]
    return start_id(model.network.config, labels)


def greedy_ids(
    language_model: PreTrainedModel, ids: list[int], max_tokens: int, **begin: int
) -> list[int]:
    """Ids of the answer to one text, at most `max_tokens`, the decoder's start token first.

    Greedy: each token is the likeliest after those before it, so the answer is always the same.
    `begin` comes from :func:`forced_first_words`.
    """
    import torch

    source = torch.tensor([ids], device=language_model.device)
    with torch.inference_mode():
        written = language_model.generate(  # type: ignore[operator]
            source,
            attention_mask=torch.ones_like(source),
            max_length=max_tokens,
            do_sample=False,
            num_beams=1,
            use_cache=True,
            **begin,
        )
    answer: list[int] = written[0].tolist()
    return answer


def forced_first_words(model: LoadedModel, languages: Languages | None) -> dict[str, int]:
    """How an answer in a language begins, as an argument of `generate`.

    The language follows the start token (NLLB, MBart-50), or takes its place (MBart).
    """
    if languages is None or model.language_model is None:
        return {}
    with model.tokenizer_lock:
        language: int = model.tokenizer.convert_tokens_to_ids(languages[1])
    settings: Any = model.language_model.generation_config
    leads = settings.forced_bos_token_id is None and start_of(model, languages) == language
    return {"decoder_start_token_id" if leads else "forced_bos_token_id": language}


@dataclass(frozen=True)
class Lengths:
    """Tokens of each text in a batch, and of what a decoder reads with it, if there is one."""

    sources: Sequence[int]
    targets: Sequence[int] | None = None

    def type_of(self, call: Call) -> AttentionType | None:
        """The kind of a call; None if it attends to anything but the tokens of the texts.

        The longest source and the longest target must differ.
        """
        source = max(self.sources)
        if self.targets is None:
            attention_types: dict[tuple[int, int], AttentionType] = {(source, source): "self"}
        else:
            target = max(self.targets)
            attention_types = {
                (source, source): "encoder",
                (target, target): "decoder",
                (target, source): "cross",
            }
        return attention_types.get((call.query.shape[2], call.key.shape[2]))

    def of_text(self, row: int, attention_type: AttentionType) -> tuple[int, int]:
        """The query tokens and the key tokens of a text, without padding."""
        targets = self.sources if self.targets is None else self.targets
        attending = self.sources if attention_type == "encoder" else targets
        attended = targets if attention_type == "decoder" else self.sources
        return attending[row], attended[row]


def of_type(
    calls: Sequence[Call], order: Sequence[AttentionType], attention_type: AttentionType
) -> list[Call]:
    """The calls of one kind, layer by layer."""
    return [call for call, each in zip(calls, order, strict=True) if each == attention_type]
