"""The check that lets every page say "this is the model's attention".

Attention is recomputed from what was recorded, and compared call by call with the weights and the
output of the model's own attention function. Two whole passes would drift apart in a deep model,
however right the rule is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from core.model.capture import IMPLEMENTATION
from core.model.checks.agreement import (
    DiffersError,
    are_same,
    compare_call,
    have_same_mask,
    rounding,
    trace_of,
)
from core.model.checks.texts import chooses_keys, texts_for
from core.model.encoder_decoder.calls import Lengths, of_kind
from core.model.errors import ModelError, UnsupportedModelError, first_line
from core.model.forward import hidden_states, run_batch
from core.model.memory import is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from core.model.capture import Call, Recorder
    from core.model.capture.calls import Check
    from core.model.checks.texts import Text
    from core.model.forward import Way
    from core.model.trace import Kind, Trace

_DRIFT = 1e-2  # of hidden states from pass to pass, by their size


@dataclass(frozen=True)
class Proof:
    """What the check found.

    Attributes
    ----------
    traces : of the short text, without its tokens, by kind of attention.
    order : the kind of each attention call of a pass.
    error : the largest difference of any attention weight.
    way : "fast" where PyTorch's attention gives the same as the model's own function.
    batches : a text in a padded batch is computed as if it were alone.
    pairs : a second text may be given.
    tokens : of the longest text that was run.
    outputs : names of the modules that are W_O, one per call (:mod:`core.model.capture.outputs`).
    """

    traces: dict[Kind, Trace]
    order: tuple[Kind, ...]
    error: float
    way: Way
    batches: bool
    pairs: bool
    tokens: int
    outputs: tuple[str, ...] | None


def probe(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> Proof:
    """Run a short text, a long one and a pair, each alone and all as a padded batch.

    Raises
    ------
    UnsupportedModelError
        When nothing is recorded, or recomputed attention or its output differs from the model's own
        by more than numbers of its type round off in scores of that size.
    """
    asks = network.config._attn_implementation == IMPLEMENTATION  # noqa: SLF001 - it has no other name
    run = _Runs(network, tokenizer, "exact" if asks else "watched")
    texts = texts_for(network, tokenizer, max_tokens)
    try:
        alone = run.first(texts.short)
        if run.way == "exact" and (
            chooses_keys(network.config) or not run.is_left_alone(texts.long)
        ):
            run.watch()
            alone = run.traces([texts.short])
        alone += run.one_by_one(texts.all[1:])
        together = run.batch(texts.all, alone)
    except DiffersError as error:
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) recomputed from its queries"
            f" and keys differs from the model's own: {error}.",
        ) from error
    kinds = tuple(dict.fromkeys(run.order))
    passes = [
        ([text], alone[index * len(kinds) : (index + 1) * len(kinds)])
        for index, text in enumerate(texts.all)
    ]
    if together:
        passes.append((texts.all, together))
    fast = run.way == "exact" and all(run.is_fast_the_same(*each) for each in passes)
    return Proof(
        traces=dict(zip(kinds, alone, strict=False)),  # the short text comes first
        order=run.order,
        error=run.error,
        way="fast" if fast else run.way,
        batches=bool(together),
        pairs=texts.pair is not None,
        tokens=max(len(text.ids) for text in texts.all),
        outputs=run.output_modules(texts.short),
    )


@dataclass
class _Runs:
    """Passes of one model, with the largest difference of any attention weight so far."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    way: Way  # of the passes that others are compared with
    error: float = 0.0
    order: tuple[Kind, ...] = ()  # the kind of each call

    @property
    def eps(self) -> float:
        """The rounding of the type in which the network computes."""
        return rounding(next(self.network.parameters()))

    def traces(self, texts: Sequence[Text], way: Way | None = None) -> list[Trace]:
        """The traces of texts run together, each call compared with what the model computed.

        Of each text, one for each kind of attention.
        """
        lengths = _lengths(texts)

        def check(call: Call, output: torch.Tensor, weights: torch.Tensor | None) -> None:
            kind = lengths.kind_of(call)
            if kind is None:
                return  # refused below
            for row in range(len(texts)):
                error = compare_call(call, output, weights, row, *lengths.of_text(row, kind))
                self.error = max(self.error, error)

        recorder, _ = self._run(texts, way or self.way, check)
        calls = recorder.calls
        if not calls and self.way == "exact":  # the network never asks for a function
            self.watch()
            return self.traces(texts)
        if not calls or recorder.missed:
            raise UnsupportedModelError(
                f"The attention of {{name}} ({self.network.config.model_type}) cannot be captured:"
                " it is none of queries and keys, or computed by code that cannot be followed.",
            )
        kinds = [kind for call in calls if (kind := lengths.kind_of(call)) is not None]
        if len(kinds) < len(calls):
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) attends to more or fewer tokens than"
                " the text has, so its maps would not fit the text.",
            )
        if texts[0].target is not None and set(kinds) != {"encoder", "decoder", "cross"}:
            raise UnsupportedModelError(
                f"The attention of {{name}} ({self.network.config.model_type}) cannot be captured"
                " in its encoder, in its decoder and between them.",
            )
        if any(one.query.data_ptr() == other.query.data_ptr() for one, other in pairwise(calls)):
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) attends more than once in a layer,"
                " and the pages here show one attention per head.",
            )
        self.order = tuple(kinds)
        return [
            trace_of(of_kind(calls, kinds, kind), row, *lengths.of_text(row, kind))
            for row in range(len(texts))
            for kind in dict.fromkeys(kinds)
        ]

    def _run(
        self, texts: Sequence[Text], way: Way, check: Check | None = None
    ) -> tuple[Recorder, object]:
        targets = [text.target for text in texts if text.target is not None]
        return run_batch(
            self.network,
            self.tokenizer,
            [text.ids for text in texts],
            [text.segments for text in texts],
            way=way,
            check=check,
            targets=targets or None,
        )

    def first(self, text: Text) -> list[Trace]:
        """The trace of a text; a network that wants more than text is refused here."""
        try:
            return self.traces([text])
        except (DiffersError, ModelError):
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) cannot be run on a text alone; it may"
                f" need images or sound ({first_line(error)}).",
            ) from error

    def watch(self) -> None:
        """From here on, let the network attend in its own way, and watch it."""
        self.network.set_attn_implementation("eager")
        self.way, self.error = "watched", 0.0

    def is_left_alone(self, text: Text) -> bool:
        """Whether the network computes what it does without this app.

        Some build other masks for attention functions whose name they do not know.
        """
        states = []
        for name in ("eager", IMPLEMENTATION):
            self.network.set_attn_implementation(name)
            _, output = self._run([text], "exact")
            given = [hidden_states(output, kind) or () for kind in dict.fromkeys(self.order)]
            states.append([state.float() for each in given for state in each])
        own, ours = states
        return bool(own) and all(
            (a - b).abs().max() <= _DRIFT * a.abs().max() for a, b in zip(own, ours, strict=True)
        )

    def output_modules(self, text: Text) -> tuple[str, ...] | None:
        """The names of the modules that are W_O."""
        from core.model.capture.outputs import output_modules

        return output_modules(self.network, lambda check: self._run([text], self.way, check))

    def one_by_one(self, texts: Sequence[Text], way: Way | None = None) -> list[Trace]:
        """The traces of texts run each by itself."""
        return [trace for text in texts for trace in self.traces([text], way)]

    def batch(self, texts: Sequence[Text], alone: Sequence[Trace]) -> list[Trace]:
        """The traces of a padded batch; none if one is not what it is `alone`."""
        try:
            traces = self.traces(texts)
        except (DiffersError, RuntimeError, ValueError, IndexError):
            return []  # what is wrong without padding too is refused there
        same = all(are_same(*each, self.eps) for each in zip(traces, alone, strict=True))
        return traces if same else []

    def is_fast_the_same(self, texts: Sequence[Text], exact: Sequence[Trace]) -> bool:
        """Whether PyTorch's attention gives what the model's own function gave."""
        try:
            traces = self.traces(texts, "fast")
        except (DiffersError, RuntimeError, ValueError, TypeError):
            return False
        return all(
            are_same(fast, own, self.eps) and all(map(have_same_mask, fast.layers, own.layers))
            for fast, own in zip(traces, exact, strict=True)
        )


def _lengths(texts: Sequence[Text]) -> Lengths:
    targets = [len(text.target) for text in texts if text.target is not None]
    return Lengths([len(text.ids) for text in texts], targets or None)
