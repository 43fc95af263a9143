"""A loaded and checked model, from which every trace is made, and its classes."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from core.model.capture.forward import AttentionMode
from core.model.errors import UnsupportedModelError, WrongInputError
from core.model.image.facts import Vision
from core.model.trace import AttentionType

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast


@dataclass(frozen=True, eq=False)
class HeadInfo:
    """The heads of one kind of attention, as recorded.

    Attributes
    ----------
    layers, heads, kv_heads, dim : `layers` are those that attend, `dim` is the length of a query.
    causal : whether no token attends to a later one.
    depth : layers of the network, of which some may not attend; None if it does not say.
    layer_labels : numbers of the layers that attend, from 1, as the network counts; may be empty.
    outputs : names of the W_O modules, one per layer; None where they are not known.
    """

    layers: int
    heads: int
    kv_heads: int
    dim: int
    causal: bool
    depth: int | None = None
    layer_labels: tuple[int, ...] = ()
    outputs: tuple[str, ...] | None = None


TOP_CLASSES = 5  # that are listed
_MAX_LABEL = 100  # characters of a class's name
# What a language-model head was trained for: the next word, words behind a mask, or an answer.
Task = Literal["next", "masked", "answer"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadedModel(HeadInfo):
    """A network and what it reads; what is recorded is proven to be the model's own attention.

    What it has of :class:`HeadInfo` is that of its first kind of attention: of an encoder-decoder,
    its encoder's.

    Attributes
    ----------
    name : the name it was loaded by.
    network : transformers' own object; it never changes after loading.
    device : "cuda", "mps" or "cpu".
    attention : the heads of each kind of attention it has; texts of a corpus get the first kind.
    parameters : number of weights.
    max_tokens : longest input, in tokens.
    probe_error : largest difference between recomputed attention and the model's own, see
        :mod:`core.model.running.probe`.
    way : how attention is computed and recorded, an
        :data:`core.model.capture.forward.AttentionMode`.
    order : the kind of each attention call of a whole pass.
    batches : texts may run in padded batches; else one by one.
    number_type : "float32", "bfloat16" or "float16": the type in which the network computes.
    checked_tokens : of the longest text that the check at load ran.
    language_model : the network with the checkpoint's language-model head, sharing the weights of
        `network`; None without one, see :mod:`core.model.opening.head`.
    task : what that head was trained for.
    text_tokenizer : transformers' own; None for a vision model.
    vision : how a vision model reads images; None for a text model.
    classifier : the network with the checkpoint's classification head, for images or texts, sharing
        the weights of `network`; None without one.
    tokenizer_lock : fast tokenizers must not be called by two threads at once.
    notes : what its folder holds that is not used, a sentence each.
    network_lock : of a network whose passes change it (:mod:`core.model.left_alone`).
    """

    name: str
    network: PreTrainedModel
    device: str
    attention: Mapping[AttentionType, HeadInfo]
    parameters: int
    max_tokens: int
    probe_error: float
    way: AttentionMode = "exact"
    order: tuple[AttentionType, ...] = ()
    batches: bool = True
    number_type: str = "float32"
    checked_tokens: int = 0
    language_model: PreTrainedModel | None = None
    task: Task | None = None
    text_tokenizer: PreTrainedTokenizerFast | None = None
    vision: Vision | None = None
    classifier: PreTrainedModel | None = None
    tokenizer_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    notes: tuple[str, ...] = ()
    network_lock: threading.RLock | None = field(default=None, repr=False)

    @property
    def sees_images(self) -> bool:
        """Whether it reads images and not texts."""
        return self.vision is not None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes by number; empty without a classification head."""
        return () if self.classifier is None else class_labels(self.classifier.config)

    @property
    def tokenizer(self) -> PreTrainedTokenizerFast:
        """The tokenizer of a text model.

        Raises
        ------
        WrongInputError
            For a vision model.
        """
        if self.text_tokenizer is None:
            raise WrongInputError(
                "{name} reads images, not texts.", "Use it with an image.", self.name
            )
        return self.text_tokenizer

    def heads_of(self, attention_type: AttentionType | None) -> HeadInfo:
        """The heads of one kind of attention, by default of the first."""
        return self if attention_type is None else self.attention[attention_type]

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether one part reads a text and another writes one, attending to the first."""
        return "cross" in self.attention


def class_labels(config: PreTrainedConfig) -> tuple[str, ...]:
    """The names of the classes by number, shortened where they are very long."""
    names = config.id2label or {}
    return tuple(str(names.get(number, number))[:_MAX_LABEL] for number in range(config.num_labels))


def classifier_of(model: LoadedModel) -> PreTrainedModel:
    """The network with its classification head, for one or several texts without padding.

    Decoders read the last token that is not padding. Without a padding token, transformers refuses
    several texts; here an id that no token has takes its place.

    Raises
    ------
    UnsupportedModelError
        When the model has no such head.
    """
    if model.classifier is None:
        raise UnsupportedModelError("{name} has no head that tells classes.")
    whole = copy.copy(model.classifier)
    if whole.config.pad_token_id is None:
        whole.config = copy.copy(whole.config)
        whole.config.pad_token_id = -1
    return whole


def likeliest_classes(model: LoadedModel, logits: torch.Tensor) -> list[tuple[str, float]]:
    """Names and probabilities of the likeliest classes from all logits: at most `TOP_CLASSES`.

    By a softmax over all classes, or by each one's sigmoid where a text may have several. A head
    with a single output has no classes: that output itself.
    """
    logits = logits.double()
    probabilities = logits.softmax(-1)
    if len(logits) == 1:
        probabilities = logits
    elif model.network.config.problem_type == "multi_label_classification":
        probabilities = logits.sigmoid()
    values, numbers = probabilities.topk(min(TOP_CLASSES, len(probabilities)))
    ranked = zip(numbers.tolist(), values.tolist(), strict=True)
    return [(model.labels[number], chance) for number, chance in ranked]
