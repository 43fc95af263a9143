"""Attention of networks that compute it themselves: read from their products and softmaxes.

Networks that do not ask transformers for an attention function (BLOOM, DeBERTa, MPNet, XLNet, ...)
still multiply queries by keys, change the products by operations known here, take a softmax, and
multiply its result by values. Whatever is added on the way (ALiBi, relative positions) is the
difference between the softmax's input and the scaled products, so no code here is model-specific.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from core.model.capture.calls import Call, Recorder, number_of_layer

_PRODUCTS = {"matmul", "__matmul__", "bmm"}
_TIMES = {"mul", "__mul__", "__rmul__", "mul_", "__imul__"}
_OVER = {"div", "__truediv__", "true_divide", "div_", "__itruediv__"}
# Operations that change values but keep every number in its place within its row.
_IN_PLACE = {
    *("add", "__add__", "__radd__", "add_", "__iadd__", "sub", "__sub__"),
    *("masked_fill", "masked_fill_", "where", "maximum", "max", "clamp", "dropout", "nan_to_num"),
    *("to", "float", "type", "type_as", "contiguous", "clone"),
    *("view", "reshape", "unsqueeze", "squeeze", "unflatten"),
}

_UNSEEN = {"scaled_dot_product_attention", "multi_head_attention_forward"}
_SAME = 1e-5  # tolerance for what is added to scores; for coarser types, twice their rounding
_FORBIDDEN = 5000  # this far below a row's largest score, there is no attention at all


@dataclass(frozen=True, eq=False)
class _Product:
    """`factor` times queries (..., query, dim) by keys (..., key, dim), and what was added."""

    query: torch.Tensor
    key: torch.Tensor
    factor: float


@dataclass(frozen=True, eq=False)
class _Weights:
    """A softmax of scores that began as a product."""

    product: _Product
    scores: torch.Tensor
    weights: torch.Tensor


class AttentionTracer(TorchFunctionMode):
    """Append every attention call of this thread to the recorder.

    Parameters
    ----------
    texts : how many are in the batch; a network's products begin with axes for texts and heads.
    lengths : tokens of the texts, and of a decoder's texts, padding included.
    """

    def __init__(self, recorder: Recorder, texts: int, lengths: set[int]) -> None:
        super().__init__()
        self._recorder, self._texts, self._lengths = recorder, texts, lengths
        self._waiting = False  # for values, since the last softmax over tokens
        self._seen: dict[int, tuple[torch.Tensor, _Product | _Weights]] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as usual, and remember what became of products."""
        options = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "softmax" and args and self._recorder.change is not None:
            args = (self._permitted(args[0]), *args[1:])
        result = func(*args, **options)
        if name in _PRODUCTS or name in {"baddbmm", "einsum"}:
            result = self._multiplied(name, args, options, result)
        elif name == "softmax":
            self._normalized(args, options, result)
        elif name in _UNSEEN:
            self._recorder.missed += 1
        elif isinstance(result, torch.Tensor) and (origin := self._origin(args)) is not None:
            self._changed(name, args, origin, result)
        return result

    def __exit__(self, *error: object) -> None:
        """Stop watching."""
        self._recorder.missed += self._waiting
        super().__exit__(*error)

    def _origin(self, args: Sequence[Any]) -> _Product | _Weights | None:
        for arg in args:
            if isinstance(arg, torch.Tensor) and (seen := self._seen.get(id(arg))) is not None:
                return seen[1]
        return None

    def _remember(self, tensor: torch.Tensor, origin: _Product | _Weights) -> None:
        self._seen[id(tensor)] = tensor, origin  # kept alive, so that no other tensor gets its id

    def _multiplied(
        self, name: str, args: tuple[Any, ...], options: dict[str, Any], result: torch.Tensor
    ) -> torch.Tensor:
        """The product that the network goes on with."""
        factor = 1.0
        if name == "baddbmm":
            left, right = args[1:3] if len(args) > 2 else (options["batch1"], options["batch2"])
            factor = float(options.get("alpha", 1))
        elif name == "einsum":
            operands = _as_matrices(args, result)
            if operands is None:
                return result
            left, right, product = operands
        else:
            left, right = (*args, *options.values())[:2]
        first = (args[1][0] if len(args) == 2 else args[1]) if name == "einsum" else left
        origin = self._origin([first])
        if isinstance(origin, _Weights):
            if self._recorder.change is not None:
                result = result.clone()
                product = _as_matrices(args, result)[2] if name == "einsum" else result  # type: ignore[index]
            self._finish(origin, right, product if name == "einsum" else result)
        elif left.ndim > 2 and right.ndim > 2:
            self._remember(result, _Product(left, right.transpose(-1, -2), factor))
        return result

    def _permitted(self, scores: torch.Tensor) -> torch.Tensor:
        """The scores of a softmax, without those that an intervention forbids."""
        origin, change = self._origin([scores]), self._recorder.change
        if change is None or not isinstance(origin, _Product):
            return scores
        forbidden = change.forbidden(self._recorder.count)
        if forbidden is None:
            return scores
        lowest = torch.finfo(scores.dtype).min
        permitted = self._by_text(scores).masked_fill(forbidden, lowest).reshape(scores.shape)
        self._remember(permitted, origin)
        return permitted

    def _changed(
        self,
        name: str,
        args: tuple[Any, ...],
        origin: _Product | _Weights,
        result: torch.Tensor,
    ) -> None:
        if name in _TIMES | _OVER and isinstance(origin, _Product):
            other = next((each for each in args if self._origin([each]) is None), None)
            number = _number(other)
            if number is None:  # a mask of zeros and ones, or what cannot be followed
                self._seen.pop(id(result), None)
                if name in _TIMES and isinstance(other, torch.Tensor) and _is_binary(other):
                    self._remember(result, origin)
                return
            factor = origin.factor * (number if name in _TIMES else 1 / number)
            self._remember(result, _Product(origin.query, origin.key, factor))
            return
        product = origin if isinstance(origin, _Product) else origin.product
        if name in _IN_PLACE | _TIMES and result.shape[-1] == product.key.shape[-2]:
            self._remember(result, origin)

    def _normalized(
        self, args: tuple[Any, ...], options: dict[str, Any], result: torch.Tensor
    ) -> None:
        scores = args[0] if args else options["input"]
        dim = options.get("dim", args[1] if len(args) > 1 else None)
        product = self._origin([scores])
        if isinstance(product, _Product) and dim in {-1, scores.ndim - 1}:
            self._seen.clear()
            self._remember(result, _Weights(product, scores, result))
            self._recorder.missed += self._waiting
            self._waiting = self._is_over_tokens(scores)
        elif self._is_over_tokens(scores):
            self._recorder.missed += 1

    def _is_over_tokens(self, scores: torch.Tensor) -> bool:
        """Whether there is a score for every pair of tokens, and perhaps one for a sink."""
        if scores.ndim < 3:
            return False
        queries, keys = scores.shape[-2:]
        return queries in self._lengths and bool({keys, keys - 1} & self._lengths)

    def _finish(
        self,
        origin: _Weights,
        values: torch.Tensor,
        result: torch.Tensor,
    ) -> None:
        """Complete the call, now that its weights have multiplied the values."""
        self._seen.clear()
        self._waiting = False
        recorder = self._recorder
        if recorder.change is not None:
            before = self._by_text(result).transpose(1, 2)
            changed = recorder.change.output(recorder.count, before)
            result.copy_(changed.transpose(1, 2).reshape(result.shape))
        weights = self._by_text(origin.weights)
        output = self._by_text(result).transpose(1, 2)
        recorder.note(lambda: self._call(origin, values), output, weights)

    def _call(self, origin: _Weights, values: torch.Tensor) -> Call:
        product = origin.product
        scores = self._by_text(origin.scores)  # (text, head, query, key)
        query, key, value = (
            self._by_text(_spread(each, scores)) for each in (product.query, product.key, values)
        )
        # In float32 also where the network rounds: what it rounds off counts as added.
        products = (query.float() @ key.float().transpose(-1, -2)).mul_(product.factor)
        same = near = _SAME
        if query.dtype != torch.float32:
            same = 2 * torch.finfo(query.dtype).eps
            near = same * (1 + _largest(products))
        return Call(
            query,
            key,
            value,
            mask=self._shared(_added(scores, products, same), near),
            bias=None,
            causal=False,
            scaling=product.factor,
            softcap=None,
            number=number_of_layer(),
        )

    def _shared(self, mask: torch.Tensor | None, near: float) -> torch.Tensor | None:
        """An earlier call's mask if it is the same up to rounding, as it mostly is."""
        for call in self._recorder.calls[:-3:-1]:  # a decoder alternates between two kinds
            last = call.mask
            if mask is None or last is None or last.shape != mask.shape:
                continue
            difference = (mask - last).nan_to_num_(nan=0)  # where both permit nothing
            if _largest(difference) <= near:
                return last
        return mask

    def _by_text(self, tensor: torch.Tensor) -> torch.Tensor:
        """Reshaped to (text, head, rows, columns), whatever the leading axes."""
        return tensor.reshape(self._texts, -1, *tensor.shape[-2:])


def _spread(tensor: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """The tensor with the scores' leading axes, repeated where heads share keys and values."""
    heads, leading = scores.shape[:2].numel(), tensor.shape[:-2].numel()
    if leading == heads:
        return tensor
    lead = math.prod(tensor.shape[:1])
    return tensor.reshape(lead, -1, *tensor.shape[-2:]).expand(
        lead, heads // lead, *tensor.shape[-2:]
    )


def _added(scores: torch.Tensor, products: torch.Tensor, same: float) -> torch.Tensor | None:
    """What a network added to scaled products: additive, -inf where it permits nothing.

    None if it permits everything and adds no more than `same`, relative to the products.

    Works in place where it can: at 512 tokens, most of the time would go into allocating copies.
    """
    scores = scores.float()
    # Networks write -inf, the lowest number, or -10,000.
    forbidden = scores <= scores.amax(-1, keepdim=True).clamp(max=0) - _FORBIDDEN
    added = (scores - products).masked_fill_(forbidden, 0)
    if _largest(added) <= same * (1 + _largest(products)):  # rounding
        if not forbidden.any():
            return None
        added.zero_()
    mask = added.masked_fill_(forbidden, -torch.inf)
    heads = range(1, mask.shape[1])
    if any(not torch.equal(mask[:, 0], mask[:, head]) for head in heads):
        return mask
    return mask[:, :1].clone()  # not a view, which would keep what all heads have


def _largest(tensor: torch.Tensor) -> float:
    """The largest absolute value."""
    return max(abs(float(each)) for each in tensor.aminmax())


def _is_binary(tensor: torch.Tensor) -> bool:
    return bool(((tensor == 0) | (tensor == 1)).all())


def _number(value: object) -> float | None:
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None


def _as_matrices(
    args: tuple[Any, ...], result: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
    """The operands and the result of an einsum, arranged as for a matmul."""
    operands = args[1] if len(args) == 2 else args[1:]
    if len(operands) != 2:
        return None
    equation, (left, right) = args[0], operands
    inputs, _, output = equation.replace(" ", "").partition("->")
    first, _, second = inputs.partition(",")
    shared = [letter for letter in first if letter in second and letter not in output]
    rows = [letter for letter in first if letter not in second]
    columns = [letter for letter in second if letter not in first]
    if [len(shared), len(rows), len(columns)] != [1, 1, 1]:
        return None
    lead = [letter for letter in output if letter not in (*rows, *columns)]
    return (
        left.permute([first.index(letter) for letter in (*lead, *rows, *shared)]),
        right.permute([second.index(letter) for letter in (*lead, *shared, *columns)]),
        result.permute([output.index(letter) for letter in (*lead, *rows, *columns)]),
    )
