"""The check that lets every page say "this is the model's attention".

Attention is recomputed from what was recorded, and compared call by call with the weights and the
output of the model's own attention function. Two whole passes would drift apart in a deep model,
however right the rule is.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from core.model.capture import IMPLEMENTATION, read_calls
from core.model.checks.vocabulary import check_ids
from core.model.errors import ModelError, UnsupportedModelError, first_line
from core.model.forward import run_batch
from core.model.memory import is_out_of_memory
from core.model.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

    from core.model.capture import Call
    from core.model.forward import Way
    from core.model.trace import Array, Layer

PROBE_TEXT = "The quick brown fox jumps over the lazy dog, and nobody minds."
PROBE_PAIR = ("Where is the dog?", "It jumps over the fox.")
_PADDING = 8  # tokens at least, of the short text beside the long one
LONG_TOKENS = 40  # of the long text, unless the model's windows ask for more
MAX_LONG_TOKENS = 520  # windows are mostly 128 or 512 tokens, or longer than most texts here
_WINDOW = re.compile(r"window|chunk|local_attention")
# Of networks whose queries choose that many keys. Some do so only for attention functions that they
# know by name, and no text of the check is as long as the number (2,048) mostly is.
_CHOSEN = re.compile(r"^index_topk")
_ROUNDING = 8 * float(np.finfo(np.float32).eps)
# Of vectors in a padded batch against the same text alone, by their size. From the third layer on
# rounding adds up, while padding that leaks shows in the first two.
_SAME, _SAME_DEEP = 1e-4, 1e-2
_DRIFT = 1e-2  # of hidden states from pass to pass, by their size


@dataclass(frozen=True)
class Proof:
    """What the check found.

    Attributes
    ----------
    trace : of the short text, without its tokens.
    error : the largest difference of any attention weight.
    way : "fast" where PyTorch's attention gives the same as the model's own function.
    batches : a text in a padded batch is computed as if it were alone.
    pairs : a second text may be given.
    tokens : of the longest text that was run.
    outputs : names of the modules that are W_O, see :mod:`core.model.capture.outputs`.
    """

    trace: Trace
    error: float
    way: Way
    batches: bool
    pairs: bool
    tokens: int
    outputs: tuple[str, ...] | None


class _DiffersError(Exception):
    """Recomputed attention is not what the model computed."""


@dataclass(frozen=True)
class _Text:
    ids: list[int]
    segments: list[int]


def probe(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> Proof:
    """Run a short text, a long one and a pair, each alone and all as a padded batch.

    Raises
    ------
    UnsupportedModelError
        When nothing is recorded, or recomputed attention or its output differs from the model's own
        by more than float32 rounds off in scores of that size.
    """
    asks = network.config._attn_implementation == IMPLEMENTATION  # noqa: SLF001 - it has no other name
    run = _Runs(network, tokenizer, "exact" if asks else "watched")
    short = _encode(tokenizer, max_tokens // 2, PROBE_TEXT)
    check_ids(network, short.ids)
    length = _long_length(network.config, len(short.ids), max_tokens)
    texts = [short, _encode(tokenizer, length, " ".join([PROBE_TEXT] * length))]
    pair = _encode(tokenizer, max_tokens, *PROBE_PAIR)
    with contextlib.suppress(UnsupportedModelError):
        check_ids(network, pair.ids, pair.segments)
        texts.append(pair)
    try:
        alone = run.first(short)
        chosen = _sizes(network.config.to_dict(), _CHOSEN)
        if run.way == "exact" and (chosen or not run.is_left_alone(texts[1])):
            run.watch()
            alone = run.traces([short])
        alone += run.one_by_one(texts[1:])
        together = run.batch(texts, alone)
    except _DiffersError as error:
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) recomputed from its queries"
            f" and keys differs from the model's own: {error}.",
        ) from error
    passes = [([text], [trace]) for text, trace in zip(texts, alone, strict=True)]
    if together:
        passes.append((texts, together))
    fast = run.way == "exact" and all(run.is_fast_the_same(*each) for each in passes)
    return Proof(
        trace=alone[0],
        error=run.error,
        way="fast" if fast else run.way,
        batches=bool(together),
        pairs=pair in texts,
        tokens=max(len(text.ids) for text in texts),
        outputs=run.output_modules(short),
    )


@dataclass
class _Runs:
    """Passes of one model, with the largest difference of any attention weight so far."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    way: Way  # of the passes that others are compared with
    error: float = 0.0

    def traces(self, texts: Sequence[_Text], way: Way | None = None) -> list[Trace]:
        """The traces of texts run together, each call compared with what the model computed."""
        lengths = [len(text.ids) for text in texts]

        def check(call: Call, output: torch.Tensor, weights: torch.Tensor | None) -> None:
            for row, length in enumerate(lengths):
                self._compare(call, output, weights, row, length)

        recorder, _ = run_batch(
            self.network,
            self.tokenizer,
            [text.ids for text in texts],
            [text.segments for text in texts],
            way=way or self.way,
            check=check,
        )
        calls = recorder.calls
        if not calls and self.way == "exact":  # the network never asks for a function
            self.watch()
            return self.traces(texts)
        if not calls or recorder.missed:
            raise UnsupportedModelError(
                f"The attention of {{name}} ({self.network.config.model_type}) cannot be captured:"
                " it is none of queries and keys, or computed by code that cannot be followed.",
            )
        if {size for call in calls for size in _tokens(call)} != {max(lengths)}:
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) attends to more or fewer tokens than"
                " the text has, so its maps would not fit the text.",
            )
        if any(one.query.data_ptr() == other.query.data_ptr() for one, other in pairwise(calls)):
            raise UnsupportedModelError(
                f"{{name}} ({self.network.config.model_type}) attends more than once in a layer,"
                " and the pages here show one attention per head.",
            )
        return [_trace(calls, row, length) for row, length in enumerate(lengths)]

    def first(self, text: _Text) -> list[Trace]:
        """The trace of a text; a network that wants more than text is refused here."""
        try:
            return self.traces([text])
        except (_DiffersError, ModelError):
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

    def is_left_alone(self, text: _Text) -> bool:
        """Whether the network computes what it does without this app.

        Some build other masks for attention functions whose name they do not know.
        """
        states = []
        for name in ("eager", IMPLEMENTATION):
            self.network.set_attn_implementation(name)
            arguments = self.network, self.tokenizer, [text.ids], [text.segments]
            states.append(run_batch(*arguments, way="exact")[1])
        own, ours = ([each.float() for each in state or ()] for state in states)
        return bool(own) and all(
            (a - b).abs().max() <= _DRIFT * a.abs().max() for a, b in zip(own, ours, strict=True)
        )

    def output_modules(self, text: _Text) -> tuple[str, ...] | None:
        """The names of the modules that are W_O."""
        from core.model.capture.outputs import output_modules

        arguments = self.network, self.tokenizer, [text.ids], [text.segments]
        return output_modules(
            self.network, lambda check: run_batch(*arguments, way=self.way, check=check)
        )

    def one_by_one(self, texts: Sequence[_Text], way: Way | None = None) -> list[Trace]:
        """The traces of texts run each by itself."""
        return [trace for text in texts for trace in self.traces([text], way)]

    def batch(self, texts: Sequence[_Text], alone: Sequence[Trace]) -> list[Trace]:
        """The traces of a padded batch; none if one is not what it is `alone`."""
        try:
            traces = self.traces(texts)
        except (_DiffersError, RuntimeError, ValueError, IndexError):
            return []  # what is wrong without padding too is refused there
        return traces if all(map(_are_same, traces, alone)) else []

    def is_fast_the_same(self, texts: Sequence[_Text], exact: Sequence[Trace]) -> bool:
        """Whether PyTorch's attention gives what the model's own function gave."""
        try:
            traces = self.traces(texts, "fast")
        except (_DiffersError, RuntimeError, ValueError, TypeError):
            return False
        return all(
            _are_same(fast, own) and all(map(_have_same_mask, fast.layers, own.layers))
            for fast, own in zip(traces, exact, strict=True)
        )

    def _compare(
        self,
        call: Call,
        output: torch.Tensor,
        weights: torch.Tensor | None,
        row: int,
        length: int,
    ) -> None:
        trace = _trace([call], row, length)
        attention, tolerance = trace.attention(0), _tolerance(trace)
        if weights is not None:
            own = weights[row, :, :length, :length].float().cpu().numpy()
            # Some functions return weights before the sink takes its share.
            shares = attention if call.sink is None else _per_row(attention)
            difference = _largest_difference(shares, own if call.sink is None else _per_row(own))
            self.error = max(self.error, difference)
            if not difference <= tolerance:  # also for "not a number"
                raise _DiffersError(f"by {difference:.1g} ({tolerance:.0e} is accepted)")
        values = trace.values[0]  # (head, token, dim)
        written = output[row, :length].float().cpu().numpy().swapaxes(0, 1)
        difference = _largest_difference(attention @ values, written)
        if not difference <= 2 * tolerance * max(1.0, np.abs(values).max()):
            raise _DiffersError(f"its output by {difference:.1g}")


def _tokens(call: Call) -> tuple[int, int]:
    """Queries and keys of a text."""
    return call.query.shape[2], call.key.shape[2]


def _trace(calls: list[Call], row: int, length: int) -> Trace:
    try:
        return Trace("", (), *read_calls(calls, row, length), causal=False)
    except ValueError as error:
        raise UnsupportedModelError(f"{{name}} cannot be shown: its {error}.") from error


def _per_row(weights: Array) -> Array:
    """Weights as shares of their row."""
    shares: Array = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _largest_difference(ours: Array, own: Array) -> float:
    if ours.shape != own.shape:
        raise _DiffersError(f"it has the shape {own.shape} instead of {ours.shape}")
    return float(np.abs(ours - own).max())


def _tolerance(trace: Trace) -> float:
    """What float32 rounds off in scores as large as one layer's queries and keys may give."""
    rule = trace.layers[0]
    norms = [np.linalg.norm(each[0], axis=-1).max() for each in (trace.queries, trace.kv_keys)]
    largest = rule.scaling * norms[0] * norms[1]
    if rule.mask is not None:
        largest += np.abs(
            rule.mask, where=np.isfinite(rule.mask), out=np.zeros_like(rule.mask)
        ).max()
    return _ROUNDING * float(1 + largest)


def _are_same(trace: Trace, other: Trace) -> bool:
    """Whether two passes recorded the same vectors, but for rounding."""
    for name in ("queries", "kv_keys", "kv_values"):
        ours, theirs = getattr(trace, name), getattr(other, name)
        for layer, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            limit = (_SAME if layer < 2 else _SAME_DEEP) * max(1.0, np.abs(b).max())
            if not np.abs(a - b).max() <= limit:
                return False
    return True


def _have_same_mask(rule: Layer, other: Layer) -> bool:
    if rule.mask is None or other.mask is None:
        return rule.mask is other.mask
    return np.array_equal(rule.mask, other.mask)


def _encode(
    tokenizer: PreTrainedTokenizerFast, tokens: int, text: str, pair: str | None = None
) -> _Text:
    """At most so many tokens of a text, or of two."""
    encoded = tokenizer(text, pair, verbose=False, truncation=True, max_length=tokens)
    ids: list[int] = encoded["input_ids"]
    return _Text(ids, encoded.get("token_type_ids", [0] * len(ids)))


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
