"""Which words a model expects, from its language-model head, with their probabilities."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.model.capture.forward import inputs_of
from core.model.errors import UnsupportedModelError
from core.model.refusal import refusing_to
from core.model.running.loaded import classifier_of, likeliest_classes
from core.model.text.inputs import TextInput, encode
from core.model.text.tokens import display_name, marks_starts, spelling_of, visible
from core.model.text.vocabulary import check_ids
from core.model.trace import Token
from core.vocabulary import RING

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from core.model.running.loaded import LoadedModel, Task

MAX_MASKS = 8  # filled in per text: each needs a row as long as the vocabulary
_BLANK_BEFORE = ("Ġ", "▁", " ")  # how vocabularies write the blank before a word
_LACKS: dict[Task, str] = {
    "next": "{name} has no language-model head for the next word.",
    "masked": "{name} has no language-model head for words behind a mask.",
    "answer": "{name} has no language-model head for answers.",
}


@dataclass(frozen=True)
class Guess:
    """A token of the vocabulary and its probability.

    `text`, `display` and `id` are as in :class:`core.model.trace.Token`, `text` empty for a row of
    the table that the tokenizer does not use; `continues` says whether the token would continue
    the word before it, as far as the vocabulary tells.
    """

    text: str
    display: str
    id: int
    probability: float
    continues: bool = False


@dataclass(frozen=True)
class Masked:
    """The position of a mask among the tokens, and the guesses for it, the likeliest first."""

    position: int
    guesses: tuple[Guess, ...]


def language_model_for(model: LoadedModel, task: Task) -> PreTrainedModel:
    """The network with a head for that task.

    Raises
    ------
    UnsupportedModelError
        When the model has no such head.
    """
    if model.language_model is None or model.task != task:
        raise UnsupportedModelError(_LACKS[task])
    return model.language_model


@refusing_to("run")
def next_words(
    model: LoadedModel,
    text: str,
    pair: str | None = None,
    count: int = 10,
    max_tokens: int | None = None,
    temperature: float = 1.0,
) -> tuple[Guess, ...]:
    """The tokens that a decoder expects after a text or a pair, the likeliest first.

    A text that is cut, as :func:`core.model.trace_text` cuts it, is continued where it was cut.

    Parameters
    ----------
    count : how many guesses.
    max_tokens : cut the input at this length if the model would take more.
    temperature : what the logits are divided by before softmax, above 0.

    Raises
    ------
    UnsupportedModelError
        When the model has no language-model head for the next word.
    """
    language_model = language_model_for(model, "next")
    item = encode(model, text, pair, max_tokens)
    length = length_to_continue(item.tokens)
    (logits,) = _logits(model, language_model, item, length, [length - 1])
    return _likeliest(model.tokenizer, logits / temperature, count)


@refusing_to("run")
def masked_words(
    model: LoadedModel,
    text: str,
    pair: str | None = None,
    count: int = 5,
    max_tokens: int | None = None,
    temperature: float = 1.0,
) -> tuple[Masked, ...]:
    """What a masked model expects at the mask tokens typed in a text or a pair.

    Only at the first :data:`MAX_MASKS`. Parameters and errors as for :func:`next_words`.
    """
    language_model = language_model_for(model, "masked")
    item = encode(model, text, pair, max_tokens)
    mask = model.tokenizer.mask_token_id
    positions = [place for place, each in enumerate(item.ids) if each == mask][:MAX_MASKS]
    if not positions:
        return ()
    logits = _logits(model, language_model, item, len(item.ids), positions)
    return tuple(
        Masked(position, _likeliest(model.tokenizer, row / temperature, count))
        for position, row in zip(positions, logits, strict=True)
    )


@refusing_to("run")
def text_classes(
    model: LoadedModel, text: str, pair: str | None = None, max_tokens: int | None = None
) -> list[tuple[str, float]]:
    """The likeliest classes of a text or a pair with their probabilities, the likeliest first.

    As :func:`core.model.running.loaded.likeliest_classes`. Raises `UnsupportedModelError` when the
    checkpoint has no classification head.
    """
    import torch

    whole = classifier_of(model)
    item = encode(model, text, pair, max_tokens)
    check_ids(model.network, item.ids, item.segments)
    inputs = inputs_of(model.network, model.tokenizer, [item.ids], [item.segments])
    with torch.inference_mode():
        return likeliest_classes(model, whole(**inputs).logits[0])


def length_to_continue(tokens: Sequence[Token]) -> int:
    """Tokens up to the last one that was typed: some tokenizers put an end mark after it."""
    length = len(tokens)
    while length > 1 and tokens[length - 1].special and not any(tokens[length - 1].span):
        length -= 1
    return length


def _logits(
    model: LoadedModel,
    language_model: PreTrainedModel,
    item: TextInput,
    length: int,
    rows: list[int],
) -> torch.Tensor:
    """The head's logits at `rows` of the first `length` tokens, float32 (row, vocabulary)."""
    import torch

    ids, segments = item.ids[:length], item.segments[:length]
    check_ids(model.network, ids, segments)
    inputs = inputs_of(model.network, model.tokenizer, [ids], [segments])
    with torch.inference_mode():
        output = narrowed(language_model, model.network, rows)(**inputs)
    logits: torch.Tensor = output.logits[0].float().cpu()
    return logits if len(logits) == len(rows) else logits[rows]


def narrowed(
    language_model: PreTrainedModel, base: PreTrainedModel, rows: list[int]
) -> PreTrainedModel:
    """A network of the same modules whose head gets the tokens in `rows` only.

    A head gives a logit for each entry of the vocabulary: half a gigabyte for 500 tokens with the
    largest.
    """

    def narrow(output: Any) -> Any:  # noqa: ANN401 - handed on
        if getattr(output, "last_hidden_state", None) is not None:
            output.last_hidden_state = output.last_hidden_state[:, rows]
        return output

    narrowed = copy.copy(language_model)  # for one call: other threads are not affected
    narrowed.__dict__["_modules"] = {
        name: Wrapped(module, lambda run: narrow(run())) if module is base else module
        for name, module in language_model._modules.items()  # noqa: SLF001 - shared by copies
    }
    return narrowed


class Wrapped:
    """A module that runs through `around` and otherwise acts as itself."""

    def __init__(self, wrapped: Any, around: Callable[[partial[Any]], Any]) -> None:  # noqa: ANN401 - a module
        self._wrapped, self._around = wrapped, around

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - handed on
        """Run the module through `around`."""
        return self._around(partial(self._wrapped, *args, **kwargs))

    def within(self, copied: Callable[[Any], Any]) -> Wrapped:
        """The same wrapper around a copy of the module."""
        return Wrapped(copied(self._wrapped), self._around)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - handed on
        return getattr(self._wrapped, name)


def _likeliest(
    tokenizer: PreTrainedTokenizerFast, logits: torch.Tensor, count: int
) -> tuple[Guess, ...]:
    """The guesses with the largest of these logits, (vocabulary,)."""
    import torch

    probabilities, ids = torch.softmax(logits, -1).topk(min(count, len(logits)))
    return guesses_of(tokenizer, ids.tolist(), probabilities.tolist())


def display_names(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> list[str]:
    """Entries of the vocabulary as people read them."""
    spelling = spelling_of(tokenizer)
    return [display_name(name, spelling) for name in tokenizer.convert_ids_to_tokens(list(ids))]


def is_text(tokenizer: PreTrainedTokenizerFast, entry: int, *, blanks: bool = False) -> bool:
    """Whether an entry of the vocabulary can be printed: no control or half character.

    Blanks and line breaks do not count either, unless `blanks` is set.
    """
    decoded = str(tokenizer.decode([entry]))
    text = decoded.strip()
    return (
        bool(decoded if blanks else text)
        and "\N{REPLACEMENT CHARACTER}" not in text
        and visible(text) in {text, RING + text}
    )


def first_words(
    tokenizer: PreTrainedTokenizerFast, order: Sequence[int], count: int, *, blanks: bool = False
) -> list[int]:
    """The first `count` of these entries that are text."""
    return list(islice((each for each in order if is_text(tokenizer, each, blanks=blanks)), count))


def guesses_of(
    tokenizer: PreTrainedTokenizerFast, ids: Sequence[int], probabilities: Sequence[float]
) -> tuple[Guess, ...]:
    """Guesses of these entries of the vocabulary, in the given order."""
    # A vocabulary is often padded: the last rows of its table have no token.
    names = [name or "" for name in tokenizer.convert_ids_to_tokens(list(ids))]
    spelling, starts = spelling_of(tokenizer), marks_starts(tokenizer)
    return tuple(
        Guess(name, display_name(name, spelling), number, probability, _continues(name, starts))
        for name, number, probability in zip(names, ids, probabilities, strict=True)
    )


def _continues(name: str, starts: bool) -> bool:
    """Whether a token continues a word: marked so, or not marked as a beginning where others are.

    Punctuation and special tokens do neither.
    """
    if name.startswith("##"):
        return True
    return starts and name[:1].isalpha() and not name.startswith(_BLANK_BEFORE)
