"""A network whose end is linear in what is written to its residual stream.

One pass is taken for granted: what each linear map gives, the gates and the scales of norms stay as
they were there. Then what is read at the end is a sum over what heads, other layers, embeddings and
biases write by themselves, and what is changed in a head reaches the end by no other head or layer:
its direct effect (Elhage et al. 2021). An activation of the head for words counts as a gate: its
output over its input stays.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from core.model.interventions.changing import Intervention
from core.model.language import Wrapped, rewired

_NORMS = {functional.layer_norm, functional.rms_norm}
_GATES = {"softmax", "sigmoid", "rsqrt"}
_POWERS = {"pow", "__pow__"}
_ACTIVATIONS = {"gelu", "relu", "silu", "tanh"}
_SOURCES = {"embedding", "conv2d"}
_PRODUCTS = {"linear", "addmm"}
_SUMS = {"add", "__add__"}
_OF_EXPERTS = {"experts", "router"}  # modules that a mixture of experts has


class Leaf(NamedTuple):
    """Something that is written: by a "head", a "layer" besides its heads, or as a "bias".

    `layer` counts attention calls, from 0; -1 is before the first of them.
    """

    kind: str
    layer: int
    values: torch.Tensor


class _Inside(TorchFunctionMode, ABC):
    """Follows a pass of a network with a head, as a :class:`core.model.capture.Change` of it."""

    def __init__(self) -> None:
        super().__init__()
        self._layer = -1  # the last attention call
        self._reads = False  # whether the network is done, and its head at work
        self._mixes = False  # whether experts are at work

    def follow(self, network: Any, base: torch.nn.Module) -> Any:  # noqa: ANN401 - a network
        """A copy of `network`, for one call, whose `base` tells when it is done.

        What its experts write is followed together (:meth:`mixture`): which tokens one of them
        gets differs from pass to pass.
        """

        def copied(module: Any) -> Any:  # noqa: ANN401 - a module
            if isinstance(module, Wrapped):
                return module.within(copied)
            children = {name: child for name, child in module._modules.items() if child is not None}  # noqa: SLF001 - shared by copies
            if not _OF_EXPERTS.isdisjoint(children):
                return Wrapped(module, self._mix)
            found = {name: copied(child) for name, child in children.items()}
            if all(found[name] is child for name, child in children.items()):
                return module
            twin = copy.copy(module)
            twin.__dict__["_modules"] = module._modules | found  # noqa: SLF001 - likewise
            return Wrapped(twin, lambda run: run(), base) if module is base else twin

        own = copied(network)
        return own if network is base else rewired(own, base, self.ends)  # type: ignore[arg-type]

    def _mix(self, run: Callable[[], Any]) -> Any:  # noqa: ANN401 - a tensor, or it first
        self._mixes = True
        try:
            return self.mixture(run)
        finally:
            self._mixes = False

    @abstractmethod
    def mixture(self, run: Callable[[], Any]) -> Any:  # noqa: ANN401 - a tensor, or it first
        """What the experts of a layer write."""

    def ends(self, output: Any) -> Any:  # noqa: ANN401 - handed on
        """The network inside of the one with a head is done."""
        self._reads = True
        return output

    def forbidden(self, number: int) -> None:
        """None."""


class TruncateAfter(_Inside):
    """What comes after a layer writes nothing: no head, no MLP, no bias of theirs.

    The final norm and the head for words read what stands there then.

    Parameters
    ----------
    last : the last layer that writes, an attention call from 0; -1 for embeddings alone.
    """

    def __init__(self, last: int) -> None:
        super().__init__()
        self._last = last

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer's heads, as they are."""
        self._layer = number
        return output

    def mixture(self, run: Callable[[], Any]) -> Any:  # noqa: ANN401 - a tensor, or it first
        """As it is, or zero after the last layer."""
        made = run()
        if self._layer <= self._last:
            return made
        if isinstance(made, tuple):
            return (torch.zeros_like(made[0]), *made[1:])
        return torch.zeros_like(made)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as usual, and write zero after the last layer."""
        made = func(*args, **(kwargs or {}))
        is_late = self._layer > self._last and not (self._reads or self._mixes)
        name = getattr(func, "__name__", "")
        if is_late and _is_biased(name, args):
            return args[0]
        return torch.zeros_like(made) if is_late and _is_product(name, args) else made


class LinearReplay(_Inside):
    """Records one pass, and repeats it with other outputs of heads.

    Attributes
    ----------
    leaves : what was written in the recorded pass, if gradients were enabled.
    outputs : what the heads gave in it, (token, head, dim) of each layer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.leaves: list[Leaf] = []
        self.outputs: list[torch.Tensor] = []
        self._kept: list[torch.Tensor] = []
        self._at = 0
        self._intervention: Intervention | None = None
        self.rewind()

    def rewind(self, intervention: Intervention | None = None) -> None:
        """Before each pass: None records, an intervention repeats what was recorded."""
        self._at, self._intervention = 0, intervention
        self._layer, self._reads = -1, False
        self._joins = False  # whether the next product is W_O

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer's heads, as they are or as the intervention has them."""
        self._joins, self._layer = True, number
        if self._intervention is not None:
            return self._intervention.output(number, output)
        self.outputs.append(output[0].detach().clone())
        return self._leaf("head", output)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as the linear network does."""
        given = kwargs or {}
        name = "" if self._mixes else getattr(func, "__name__", "")
        if _is_product(name, args):
            return self._product(func, args, given)
        if _is_biased(name, args):
            args = (args[0], self._leaf("bias", args[1]))
        if func in _NORMS and not self._mixes:
            return self._norm(func, *args, **given)
        if name in _GATES or (name in _POWERS and _is_root(*args)):
            kept = self._keep(args[0], lambda: func(*args, **given))
            return kept.contiguous()  # networks view them
        if self._reads and name in _ACTIVATIONS:
            return self._gated(func(*args, **given), args[0])
        if name in _SOURCES and self._layer < 0 and torch.is_grad_enabled():
            return func(*args, **given).detach().requires_grad_()
        return func(*args, **given)

    def mixture(self, run: Callable[[], Any]) -> Any:  # noqa: ANN401 - a tensor, or it first
        """A part of the sum, as it was in the recorded pass."""
        made = run()
        first, *rest = made if isinstance(made, tuple) else (made,)
        kept = self._leaf("layer", self._keep(first, lambda: first))
        return (kept, *rest) if isinstance(made, tuple) else kept

    def _product(
        self, func: Callable[..., torch.Tensor], args: tuple[Any, ...], given: dict[str, Any]
    ) -> torch.Tensor:
        """A linear map: W_O and the head for words are part of the sum, others as they were."""
        if not (self._joins or self._reads):
            states = args[1 if func.__name__ == "addmm" else 0]
            made = self._keep(states, lambda: func(*args, **given))
            return self._leaf("layer", made)
        self._joins = False
        if func.__name__ == "addmm":
            bias, states, weight = args
            return states @ weight + self._leaf("bias", bias)
        states, weight = args[:2]
        if func.__name__ == "matmul":
            return states @ weight
        bias = given.get("bias", args[2] if len(args) > 2 else None)
        made = functional.linear(states, weight)
        return made if bias is None else made + self._leaf("bias", bias)

    def _norm(
        self,
        func: Callable[..., torch.Tensor],
        states: torch.Tensor,
        shape: Sequence[int],
        weight: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        eps: float | None = None,
    ) -> torch.Tensor:
        axes = tuple(range(-len(shape), 0))
        if func is functional.layer_norm:
            states = states - states.mean(axes, keepdim=True)
        least = torch.finfo(states.dtype).eps if eps is None else eps
        scale = self._keep(
            states, lambda: states.square().mean(axes, keepdim=True).add(least).rsqrt()
        )
        made = states * scale
        if weight is not None:
            made = made * weight
        return made if bias is None else made + self._leaf("bias", bias)

    def _gated(self, made: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        return states * self._keep(states, lambda: torch.where(states == 0, 0, made / states))

    def _keep(self, states: torch.Tensor, compute: Callable[[], torch.Tensor]) -> torch.Tensor:
        """What is computed of these in the recorded pass, and in all others the same."""
        if self._intervention is None:
            self._kept.append(compute().detach())
            return self._kept[-1].clone()
        kept = self._kept[self._at]
        self._at += 1
        copies = len(states) // len(kept)  # 1 where the batch is not in the first axis
        return kept.repeat(copies, *[1] * (kept.dim() - 1))  # networks add to them in place

    def _leaf(self, kind: str, values: torch.Tensor) -> torch.Tensor:
        if self._intervention is not None or not torch.is_grad_enabled():
            return values
        leaf = values.detach().clone().requires_grad_()
        self.leaves.append(Leaf(kind, self._layer, leaf))
        return leaf.clone()  # networks add to it in place


def _is_product(name: str, args: tuple[Any, ...]) -> bool:
    """Whether states are multiplied by weights, which are a matrix however they are written."""
    return name in _PRODUCTS or (name == "matmul" and args[1].dim() == 2)


def _is_biased(name: str, args: tuple[Any, ...]) -> bool:
    """Whether a bias is added by itself, after its product."""
    return name in _SUMS and len(args) == 2 and isinstance(args[1], torch.nn.Parameter)


def _is_root(_base: object, exponent: object, *_rest: object) -> bool:
    """Whether a power is one over a root, as of a norm."""
    return isinstance(exponent, float) and exponent < 0
