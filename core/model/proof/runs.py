"""Passes of a network at load, each attention call compared with what the network computed.

:class:`Samples` says what is run: the texts of a tokenizer, or pictures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from core.model.capture.calls import Call, Check, Recorder
from core.model.capture.forward import AttentionMode, hidden_states
from core.model.capture.interface import IMPLEMENTATION
from core.model.encoder_decoder import Lengths, of_type
from core.model.errors import ModelError, UnsupportedModelError, first_line
from core.model.left_alone import ModuleStates
from core.model.memory import is_out_of_memory
from core.model.proof.agreement import (
    DiffersError,
    are_same,
    compare_call,
    have_same_mask,
    rounding,
    trace_of,
)
from core.model.trace import AttentionType, Trace

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


Item = TypeVar("Item")
Passes = list[tuple[Sequence[Item], list[Trace]]]  # what ran together, and its traces
_DRIFT = 1e-2  # of hidden states from pass to pass, by their size
# What Longformer and LED call the queries of tokens with global attention (Beltagy et al. 2020,
# section 3.1, "Linear Projections for Global Attention").
_GLOBAL_QUERIES = "query_global"
_TWO_OF_EACH = (
    ": it is computed in overlapping chunks of a sliding window, and each token has a second query,"
    " key and value for global attention, while a head is shown here with one of each."
)


@dataclass(frozen=True)
class Samples(ABC, Generic[Item]):
    """What a network is run on while it is checked: texts of its tokenizer, or pictures.

    Attributes
    ----------
    all : the samples; a check begins with the first of them alone.
    canary : the sample that best shows whether the network computes what it does elsewhere.
    mismatch : what follows the name of a network that attends to other tokens than these.
    failed : what follows the name of a network that stops, before the error.
    advice : what to do instead of opening such a network.
    """

    network: PreTrainedModel
    all: Sequence[Item]
    canary: Item
    mismatch: ClassVar[str]
    failed: ClassVar[str]
    advice: ClassVar[str]

    @abstractmethod
    def run(
        self, items: Sequence[Item], way: AttentionMode, check: Check | None
    ) -> tuple[Recorder, object]:
        """One recorded pass of a batch, and the network's output."""

    @abstractmethod
    def lengths(self, items: Sequence[Item]) -> Lengths:
        """The tokens of each item."""

    def extra_passes(self, runs: Runs[Item], first: Trace) -> Passes[Item]:  # noqa: ARG002
        """Further passes, once the samples passed; `first` is the first sample's trace."""
        return []


@dataclass
class Runs(Generic[Item]):
    """Passes of one model, with the largest difference of any attention weight so far.

    What :mod:`core.model.running.probe` says of texts holds for images too: an item is a text or a
    picture.
    """

    network: PreTrainedModel
    samples: Samples[Item]
    way: AttentionMode  # of the passes that others are compared with
    error: float = 0.0
    order: tuple[AttentionType, ...] = ()  # the kind of each call
    changes: bool = False  # whether a pass has changed the network's modules

    @property
    def eps(self) -> float:
        """The rounding of the type in which the network computes."""
        return rounding(next(self.network.parameters()))

    def traces(self, items: Sequence[Item], way: AttentionMode | None = None) -> list[Trace]:
        """The traces of items run together, each call compared with what the model computed.

        For each item, one trace per kind of attention.
        """
        lengths = self.samples.lengths(items)

        def check(call: Call, output: torch.Tensor, weights: torch.Tensor | None) -> None:
            attention_type = lengths.type_of(call)
            if attention_type is None:
                return  # refused below
            for row in range(len(items)):
                tokens = lengths.of_text(row, attention_type)
                self.error = max(self.error, compare_call(call, output, weights, row, *tokens))

        recorder, _ = self._run(items, way or self.way, check)
        calls = recorder.calls
        if not calls and self.way == "exact":  # the network never asks for a function
            self.watch()
            return self.traces(items)
        if not calls or recorder.missed:
            raise self._uncaptured(
                ": it is none of queries and keys, or computed by code that cannot be followed."
            )
        attention_types = [kind for call in calls if (kind := lengths.type_of(call)) is not None]
        if len(attention_types) < len(calls):
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) {self.samples.mismatch}",
                self.samples.advice,
            )
        if lengths.targets is not None and set(attention_types) != {"encoder", "decoder", "cross"}:
            raise self._uncaptured(" in its encoder, in its decoder and between them.")
        if any(one.query.data_ptr() == other.query.data_ptr() for one, other in pairwise(calls)):
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) attends more than once in a layer,"
                " and the pages here show one attention per head.",
                self.samples.advice,
            )
        self.order = tuple(attention_types)
        return [
            trace_of(of_type(calls, attention_types, kind), row, *lengths.of_text(row, kind))
            for row in range(len(items))
            for kind in dict.fromkeys(attention_types)
        ]

    def _run(
        self, items: Sequence[Item], way: AttentionMode, check: Check | None
    ) -> tuple[Recorder, object]:
        """Run a pass, and put the network back as it was."""
        states = ModuleStates(self.network)
        try:
            return self.samples.run(items, way, check)
        finally:
            self.changes |= states.put_back()

    def _uncaptured(self, why: str) -> UnsupportedModelError:
        """The refusal of a network whose attention was not seen."""
        if any(name.endswith(_GLOBAL_QUERIES) for name, _ in self.network.named_modules()):
            why = _TWO_OF_EACH
        kind = self.network.config.model_type
        return UnsupportedModelError(
            f"The attention of {{name}} ({kind}) cannot be captured{why}", self.samples.advice
        )

    def first(self, item: Item) -> list[Trace]:
        """The trace of one item; a network that cannot be run on it is refused here."""
        try:
            return self.traces([item])
        except (DiffersError, ModelError):
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) {self.samples.failed}"
                f" ({first_line(error)}).",
                self.samples.advice,
            ) from error

    def watch(self) -> None:
        """From here on, let the network attend in its own way, and watch it."""
        self.network.set_attn_implementation("eager")
        self.way, self.error = "watched", 0.0

    def matches_eager(self, item: Item) -> bool:
        """Whether the network computes what it does without this app.

        Some build other masks for attention functions whose name they do not know.
        """
        states = []
        for name in ("eager", IMPLEMENTATION):
            self.network.set_attn_implementation(name)
            _, output = self._run([item], "exact", None)
            by_type = [hidden_states(output, kind) or () for kind in dict.fromkeys(self.order)]
            states.append([state.float() for each in by_type for state in each])
        own, ours = states
        return bool(own) and all(
            (a - b).abs().max() <= _DRIFT * a.abs().max() for a, b in zip(own, ours, strict=True)
        )

    def output_modules(self, item: Item) -> tuple[str, ...] | None:
        """The names of the modules that are W_O."""
        from core.model.capture.outputs import output_modules

        return output_modules(self.network, lambda check: self._run([item], self.way, check))

    def batch(self, items: Sequence[Item], alone: Sequence[Trace]) -> list[Trace]:
        """The traces of a padded batch; none if one differs from its trace `alone`."""
        try:
            traces = self.traces(items)
        except (DiffersError, RuntimeError, ValueError, IndexError):
            return []  # what is wrong without padding too is refused there
        same = all(are_same(*each, self.eps) for each in zip(traces, alone, strict=True))
        return traces if same else []

    def is_fast_the_same(self, items: Sequence[Item], exact: Sequence[Trace]) -> bool:
        """Whether PyTorch's attention gives what the model's own function gave."""
        try:
            traces = self.traces(items, "fast")
        except (DiffersError, RuntimeError, ValueError, TypeError):
            return False
        return all(
            are_same(fast, own, self.eps) and all(map(have_same_mask, fast.layers, own.layers))
            for fast, own in zip(traces, exact, strict=True)
        )
