"""A network whose output is linear in what is written to its residual stream.

Modules write to it: W_O of each layer, the matrices of its MLP, its experts as one. One pass is
recorded, and all but W_O is frozen there: what the modules gave, the gates, the scales of norms.
The output is then a sum of what heads, other layers, embeddings and biases write by themselves, and
a change in a head reaches it through no other head or layer: the head's direct effect (Elhage et
al. 2021). An activation in the language-model head counts as a gate: the ratio of its output to its
input is frozen.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from core.model.interventions.changing import UNCHANGED, Intervention
from core.model.language import Wrapped, rewired

_NORMS = {functional.layer_norm, functional.rms_norm}
_GATES = {"softmax", "sigmoid", "rsqrt"}
_POWERS = {"pow", "__pow__"}
_ACTIVATIONS = {"gelu", "relu", "silu", "tanh"}
_SOURCES = {"embedding", "conv2d"}
_SUMS = {"add", "__add__"}
_OF_EXPERTS = {"experts", "router"}  # modules that a mixture of experts has


class Leaf(NamedTuple):
    """Something written to the stream: by a "head", by the rest of a "layer", or as a "bias".

    `layer` counts attention calls, from 0; -1 is before the first of them.
    """

    kind: str
    layer: int
    values: torch.Tensor


class Follower(ABC):
    """A :class:`core.model.capture.Change` for passes of one network over copies of one input.

    The first pass, of one unchanged copy, is recorded; later passes use it. Modules that write to
    the stream are run by :meth:`write`.

    Parameters
    ----------
    network, base : what runs, and the network without a head inside it, perhaps itself.
    """

    def __init__(self, network: Any, base: torch.nn.Module) -> None:  # noqa: ANN401 - a network
        super().__init__()
        self.change = UNCHANGED
        self.copies = 0
        self.records = True
        self._layer = -1  # the last attention call
        self._joins = False  # whether the next matrix is W_O
        self._reads = False  # whether the network is done, and its head at work
        self._kept: list[tuple[torch.Tensor, torch.Size]] = []  # outputs, shapes of their inputs
        self._beside: dict[int, list[Any]] = {}  # experts' other outputs, at the same places
        self._at = 0
        copied = self._copied(network, base)
        self._network = copied if network is base else rewired(copied, base, self._end)  # type: ignore[arg-type]

    def begin(self, change: Intervention, copies: int) -> Any:  # noqa: ANN401 - a network
        """Call before each pass: returns a copy of the network to run, which shares its weights."""
        self.records, self.change, self.copies = self.copies == 0, change, copies
        self._layer, self._joins, self._reads, self._at = -1, False, False, 0
        return self._network

    def forbidden(self, number: int) -> torch.Tensor | None:
        """The cells of a layer."""
        return self.change.forbidden(number)

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer's heads, as changed; what multiplies them next is W_O."""
        self._layer, self._joins = number, True
        return self.change.output(number, output)

    @abstractmethod
    def write(self, module: torch.nn.Module, run: partial[Any], *, linear: bool) -> Any:  # noqa: ANN401 - what it gives
        """A module's output, or a tuple led by it; W_O and language-model heads are `linear`."""

    def replay(self, run: partial[Any]) -> Any:  # noqa: ANN401 - what a module gives
        """A module's output in the recorded pass, repeated per copy; in that pass, computed."""
        states, place = _states(run), len(self._kept) if self.records else self._at
        if self.records:
            output = run()
            first, *self._beside[place] = output if isinstance(output, tuple) else (output,)
            self._kept[place:] = [(first.detach().clone(), states.shape)]  # not what its parts gave
        else:
            first = self._again(states)
        return (first, *self._beside[place]) if self._beside[place] else first

    def _again(self, states: torch.Tensor) -> torch.Tensor:
        value, shape = self._kept[self._at]
        self._at += 1
        copies = len(states) // shape[0]  # 1 where the batch is not in the first axis
        return value.repeat(copies, *[1] * (value.dim() - 1))  # networks add to them in place

    def _copied(self, module: Any, base: torch.nn.Module) -> Any:  # noqa: ANN401 - a module
        """The module with its writers wrapped, for this object alone.

        Experts are one writer: which tokens one of them gets differs from pass to pass.
        """
        copied = partial(self._copied, base=base)
        if isinstance(module, Wrapped):
            return module.within(copied)
        children = {name: child for name, child in module._modules.items() if child is not None}  # noqa: SLF001 - shared by copies
        if not _OF_EXPERTS.isdisjoint(children) or (not children and _is_matrix(module)):
            return Wrapped(module, partial(self._write, module))
        wrapped = {name: copied(child) for name, child in children.items()}
        if all(wrapped[name] is child for name, child in children.items()):
            return module
        twin = copy.copy(module)
        twin.__dict__["_modules"] = module._modules | wrapped  # noqa: SLF001 - likewise
        return Wrapped(twin, lambda run: run(), base) if module is base else twin

    def _write(self, module: torch.nn.Module, run: partial[Any]) -> Any:  # noqa: ANN401 - what it gives
        linear, self._joins = self._joins or self._reads, False
        return self.write(module, run, linear=linear)

    def _end(self, output: Any) -> Any:  # noqa: ANN401 - handed on
        """Note that the network below the head is done."""
        self._reads = True
        return output


class SharedPrefix(Follower):
    """Computes once what all copies share, up to the heads of the first changed layer."""

    def begin(self, change: Intervention, copies: int) -> Any:  # noqa: ANN401 - a network
        """As for any follower."""
        self._first = min((*(each.layer for each in change.replaced), *change.cells), default=0)
        return super().begin(change, copies)

    def write(self, module: torch.nn.Module, run: partial[Any], *, linear: bool) -> Any:  # noqa: ANN401, ARG002 - as of any
        """The module's recorded output where all copies share it, else computed."""
        if self.records:
            return self.replay(run)
        if self._layer >= self._first:
            return run()
        length, *rest = self._kept[self._at][1]
        if _states(run).shape == (self.copies * length, *rest):
            return self.replay(run)
        self._at += 1  # its batch is not in the first axis, as in tables of distances
        return run()


class TruncateAfter(Follower):
    """Everything after a layer writes nothing: no head, no MLP, none of their biases.

    The final norm and the language-model head read the stream as it is then. `last` is the last
    layer that writes, an attention call from 0; -1 for embeddings alone.
    """

    def __init__(self, network: Any, base: torch.nn.Module, last: int) -> None:  # noqa: ANN401 - a network
        super().__init__(network, base)
        self._last = last

    def write(self, module: torch.nn.Module, run: partial[Any], *, linear: bool) -> Any:  # noqa: ANN401, ARG002 - as of any
        """The module's output, or zero after the last layer."""
        output = run()
        if self._layer <= self._last or self._reads:
            return output
        if isinstance(output, tuple):
            return (torch.zeros_like(output[0]), *output[1:])
        return torch.zeros_like(output)


class LinearReplay(Follower, TorchFunctionMode):
    """Records one pass, and repeats it with other outputs of heads.

    Attributes
    ----------
    leaves : what was written in the recorded pass, if gradients were enabled.
    start : the residual stream before the first layer of that pass.
    """

    def __init__(self, network: Any, base: torch.nn.Module) -> None:  # noqa: ANN401 - a network
        super().__init__(network, base)
        self.leaves: list[Leaf] = []
        self.start = torch.empty(0)

    def begin(self, change: Intervention, copies: int) -> Any:  # noqa: ANN401 - a network
        """The linear network."""
        return partial(self._run, super().begin(change, copies))

    def _run(self, network: Any, **inputs: Any) -> Any:  # noqa: ANN401 - what it gives
        output = network(**inputs, output_hidden_states=True)
        if self.records:
            self.start = output.hidden_states[0]
        return output

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer's heads, as they are or as the change has them."""
        return self._leaf("head", super().output(number, output))

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as the linear network does."""
        options, name = kwargs or {}, getattr(func, "__name__", "")
        if name in _SUMS and len(args) == 2 and isinstance(args[1], torch.nn.Parameter):
            args = (args[0], self._leaf("bias", args[1]))
        if func in _NORMS:
            return self._norm(func, *args, **options)
        if name in _GATES or (name in _POWERS and _is_root(*args)):
            gate = self._keep(args[0], lambda: func(*args, **options))
            return gate.contiguous()  # networks view them
        result = func(*args, **options)
        if self._reads and name in _ACTIVATIONS:
            states = args[0]
            return states * self._keep(states, lambda: torch.where(states == 0, 0, result / states))
        is_source = name in _SOURCES and self._layer < 0 and torch.is_grad_enabled()
        return result.detach().requires_grad_() if is_source else result

    def write(self, module: torch.nn.Module, run: partial[Any], *, linear: bool) -> Any:  # noqa: ANN401 - what it gives
        """A linear map of the module's input, or its output in the recorded pass."""
        if linear:
            bias = getattr(module, "bias", None)
            return run() if bias is None else run() + (self._leaf("bias", bias) - bias)
        output = self.replay(run)
        if not self.records:
            return output
        first, *rest = output if isinstance(output, tuple) else (output,)
        written = self._leaf("layer", first.detach().clone())
        return (written, *rest) if rest else written

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
        epsilon = torch.finfo(states.dtype).eps if eps is None else eps
        scale = self._keep(
            states, lambda: states.square().mean(axes, keepdim=True).add(epsilon).rsqrt()
        )
        result = states * scale
        if weight is not None:
            result = result * weight
        return result if bias is None else result + self._leaf("bias", bias)

    def _keep(self, states: torch.Tensor, compute: Callable[[], torch.Tensor]) -> torch.Tensor:
        """What `compute` gives in the recorded pass, reused in all others."""
        if not self.records:
            return self._again(states)
        value = compute().detach()
        self._kept.append((value, states.shape))
        return value.clone()

    def _leaf(self, kind: str, values: torch.Tensor) -> torch.Tensor:
        if not (self.records and torch.is_grad_enabled()):
            return values
        leaf = values.detach().clone().requires_grad_()
        self.leaves.append(Leaf(kind, self._layer, leaf))
        return leaf.clone()  # networks add to it in place


def _states(run: partial[Any]) -> torch.Tensor:
    """The first argument of a module."""
    states: torch.Tensor = next(iter((*run.args, *run.keywords.values())))
    return states


def _is_matrix(module: torch.nn.Module) -> bool:
    """Whether it multiplies states by a matrix; a table of embeddings does not."""
    own = module._parameters.values()  # noqa: SLF001 - those of its parts do not count
    matrices = any(each is not None and each.dim() == 2 for each in own)
    return matrices and not isinstance(module, torch.nn.Embedding)


def _is_root(_base: object, exponent: object, *_rest: object) -> bool:
    """Whether a power is an inverse one, such as the inverse root in a norm."""
    return isinstance(exponent, float) and exponent < 0
