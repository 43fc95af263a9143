"""Run texts or images through a model and record what its heads compute."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from core.model import memory
from core.model.capture.calls import Call, Change
from core.model.capture.forward import hidden_states, run_batch
from core.model.capture.reading import reader_of
from core.model.encoder_decoder import (
    MAX_ANSWER,
    DecoderInput,
    Lengths,
    answered,
    forced_first_words,
    greedy_ids,
    of_type,
    read_target,
    start_of,
)
from core.model.errors import EmptyTextError, OutOfMemoryError, UnsupportedModelError
from core.model.image.facts import Vision
from core.model.image.forward import run_images
from core.model.left_alone import left_alone
from core.model.refusal import Action, refusing, refusing_to
from core.model.text.inputs import TextInput, cut_characters, encode, token_lengths, usable_tokens
from core.model.text.languages import Languages, checked
from core.model.text.vocabulary import check_ids
from core.model.trace import Array, AttentionType, Layer, Trace

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from core.model.capture.reading import Reader
    from core.model.running.loaded import LoadedModel

# Tokens of a padded batch: 60 MB of queries, keys and values for BERT base. More is no faster.
BATCH_TOKENS = 1024


def trace_text(
    model: LoadedModel,
    text: str,
    pair: str | None = None,
    max_tokens: int | None = None,
    target: str | None = None,
    *,
    decode: bool = True,
    languages: Languages | None = None,
) -> Trace:
    """One forward pass of a text, or of two texts joined as the model's tokenizer joins them.

    The trace of an encoder-decoder is its encoder's; ``trace.of_type("decoder")`` and
    ``trace.of_type("cross")`` are of the same pass.

    Parameters
    ----------
    model : from :func:`core.model.load`.
    text, pair : the text and, optionally, a second one.
    max_tokens : cut the input, and the target, at this length if the model would take more.
    target : what the decoder of an encoder-decoder reads; by default the model's own answer,
        decoded greedily, of at most ``MAX_ANSWER`` tokens. A model without a decoder ignores it.
    decode : False runs only the encoder of an encoder-decoder, and asks for no answer.
    languages : codes of the languages that a translator reads and writes, among those of its
        tokenizer; by default those of its settings.

    Raises
    ------
    EmptyTextError
        When the text has only special tokens.
    OutOfMemoryError
        When the text is too long for the free memory.
    WrongInputError
        When the model has no such language.
    """
    languages = checked(model, languages)
    item = encode(model, text, pair, max_tokens, languages)
    if model.is_encoder_decoder and decode:
        item = replace(item, target=_target(model, item, target, max_tokens, languages))
    (trace,) = trace_inputs(model, [item])
    return trace


@refusing_to("run")
def _target(
    model: LoadedModel,
    item: TextInput,
    text: str | None,
    max_tokens: int | None,
    languages: Languages | None,
) -> DecoderInput:
    """What the decoder reads: the text, or the model's own answer."""
    limit = usable_tokens(model, max_tokens)
    if text and text.strip():
        return read_target(model, cut_characters(text, limit), limit, languages)
    if model.language_model is not None and model.task == "answer":
        check_ids(model.network, item.ids)
        begin, longest = forced_first_words(model, languages), min(limit, MAX_ANSWER)
        ids = greedy_ids(model.language_model, item.ids, longest, **begin)
        return answered(model, ids)
    return answered(model, [start_of(model, languages)])


def trace_corpus(
    model: LoadedModel,
    texts: Iterable[str],
    batch_size: int = 16,
    max_tokens: int | None = None,
) -> Iterator[Trace]:
    """One trace per text, in order, run in padded batches; padding never reaches a trace.

    In an encoder-decoder, only the encoder runs.

    Raises what :func:`trace_text` raises, once the batch with that text is reached.
    """
    remaining = iter(texts)
    while batch := list(islice(remaining, batch_size)):
        yield from trace_inputs(model, [encode(model, text, None, max_tokens) for text in batch])


def trace_by_length(
    model: LoadedModel,
    texts: Sequence[str],
    *,
    batch_tokens: int = BATCH_TOKENS,
    max_tokens: int | None = None,
    lengths: Sequence[int] | None = None,
    whole: bool = True,
) -> Iterator[tuple[int, Trace]]:
    """The traces of a corpus, each with its place in `texts`, shortest texts first.

    Texts of similar length run together, so there is little padding, and none reaches a trace.
    Batches run as they are asked for, one in memory at a time: to cancel, stop asking. Texts that
    have only special tokens are skipped.

    Parameters
    ----------
    batch_tokens : tokens in a batch, padding included; a longer text runs alone.
    max_tokens : cut each text at this length if the model would take more.
    lengths : in tokens, as :func:`token_lengths` returns them, if already known.
    whole : False for queries and keys only, which is faster: values then have no tokens, there are
        no hidden states, and the traces of a batch are views of arrays that they share, whose
        memory is freed once the last of them is gone.
    """
    if lengths is None:
        lengths = token_lengths(model, texts, max_tokens)
    for batch in batches_by_length(lengths, batch_tokens):
        items = {}
        for place in batch:
            with contextlib.suppress(EmptyTextError):
                items[place] = encode(model, texts[place], None, max_tokens)
        if items:
            traces = trace_inputs(model, list(items.values()), whole=whole)
            yield from zip(items, traces, strict=True)


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Group indices by length, as many as fit when padded to the longest of them."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def trace_inputs(
    model: LoadedModel, batch: list[TextInput], *, whole: bool = True, change: Change | None = None
) -> Iterator[Trace]:
    """The traces of a batch, one at a time; the batch runs when the first is asked for.

    `whole` is as in :func:`trace_by_length`; `change` is what an intervention alters.
    """
    action: Action = "see" if model.sees_images else "run"
    for items in [batch] if model.batches else [[item] for item in batch]:
        with refusing(model.name, action), left_alone(model.network, model.network_lock):
            calls, output = _run(model, items, change)
            readers = {
                attention_type: reader_of(own, whole=whole) for attention_type, own in calls.items()
            }
        for row in range(len(items)):
            with refusing(model.name, action):  # must not enclose the caller's code
                trace = _read_trace(model, readers, output if whole else None, row, items)
            yield trace


def _run(
    model: LoadedModel, batch: list[TextInput], change: Change | None = None
) -> tuple[dict[AttentionType, list[Call]], object]:
    """The forward pass of a batch: its attention calls by kind, and the network's output."""
    try:
        if model.vision is None:
            return _run_texts(model, batch, change)
        return _run_images(model, model.vision, batch, change)
    except (MemoryError, RuntimeError) as error:
        if not memory.is_out_of_memory(error):
            raise
        patches = batch[0].patches
        units = f"{max(len(item.tokens) for item in batch)} tokens"
        units = units if patches is None else f"{patches.count:,} patches"
        raise OutOfMemoryError(
            f"There is not enough memory to run {units} through {{name}}.",
            f"Use a {'shorter text' if patches is None else 'smaller size'} or a smaller model.",
        ) from error


def _run_texts(
    model: LoadedModel, batch: list[TextInput], change: Change | None
) -> tuple[dict[AttentionType, list[Call]], object]:
    """The forward pass of texts, once the ids are known to have vectors."""
    for item in batch:
        check_ids(model.network, item.ids, item.segments)
        check_ids(model.network, item.target_ids)
    targets = [item.target_ids for item in batch if item.target is not None]
    network: PreTrainedModel = model.network
    if model.is_encoder_decoder and not targets:
        network = network.get_encoder()
    recorder, output = run_batch(
        network,
        model.tokenizer,
        [item.ids for item in batch],
        [item.segments for item in batch],
        way=model.way,
        change=change,
        targets=targets or None,
    )
    order = [
        attention_type
        for attention_type in model.order
        if network is model.network or attention_type == "encoder"
    ]
    if recorder.missed or len(recorder.calls) != len(order):
        raise UnsupportedModelError(
            "{name} uses another kind of attention for a text of"
            f" {max(len(item.ids) for item in batch)}"
            " tokens than for shorter ones, and it cannot be followed.",
            "Use a shorter text.",
        )
    return {
        attention_type: of_type(recorder.calls, order, attention_type)
        for attention_type in dict.fromkeys(order)
    }, output


def _run_images(
    model: LoadedModel, vision: Vision, batch: list[TextInput], change: Change | None
) -> tuple[dict[AttentionType, list[Call]], object]:
    """The forward pass of images of one size."""
    images = [item.patches.pixels for item in batch if item.patches is not None]
    recorder, output = run_images(model.network, vision, images, way=model.way, change=change)
    tokens = {call.query.shape[2] for call in recorder.calls}
    if recorder.missed or tokens != {len(batch[0].tokens)}:
        raise UnsupportedModelError(
            "{name} uses another kind of attention for an image of this size, and it cannot be"
            " followed.",
            "Use another size.",
        )
    return {"self": recorder.calls}, output


def _read_trace(
    model: LoadedModel,
    readers: dict[AttentionType, Reader],
    output: object,
    row: int,
    batch: list[TextInput],
) -> Trace:
    """The trace of one item; for an encoder-decoder, the encoder's with the others attached."""
    item = batch[row]
    targets = None if item.target is None else [len(each.target_ids) for each in batch]
    lengths = Lengths([len(each.tokens) for each in batch], targets)
    traces = []
    for attention_type, read in readers.items():
        decoded = item.target if attention_type in {"decoder", "cross"} else None
        states = hidden_states(output, attention_type)
        heads = model.attention[attention_type]
        queries, keys = lengths.of_text(row, attention_type)
        recorded = read(row, queries, keys)
        traces.append(
            Trace(
                model.name,
                item.tokens if decoded is None else decoded.tokens,
                *recorded,
                causal=heads.causal,
                dropped=item.dropped if decoded is None else decoded.dropped,
                cut_characters=item.cut_characters if decoded is None else 0,
                hidden_states=_stack_states(states, row, queries, recorded[-1]),
                depth=heads.depth if heads.layer_labels else None,
                attention_type=attention_type,
                source=item.tokens if attention_type == "cross" else None,
                origin="given" if decoded is None else decoded.origin,
                patches=item.patches,
            )
        )
    return replace(traces[0], others=tuple(traces[1:]))


def _stack_states(
    hidden: tuple[torch.Tensor, ...] | None, row: int, length: int, rules: tuple[Layer, ...]
) -> Array | None:
    """(layer + 1, token, width) of one text: what entered each layer, and what left the last.

    None where states differ in width, or cannot be assigned to layers.
    """
    import torch

    if not hidden:
        return None
    numbers = [rule.number for rule in rules if rule.number is not None]
    if len(numbers) == len(rules) and numbers[-1] < len(hidden) - 1:
        hidden = (*(hidden[number] for number in numbers), hidden[-1])
    states = [state[row, :length].float().cpu() for state in hidden]
    alike = len(states) == len(rules) + 1 and len({state.shape for state in states}) == 1
    stacked: Array | None = torch.stack(states).numpy() if alike else None
    return stacked
