"""A network in which what writes to the residual stream can be silenced, and the rest frozen.

Modules write to it: W_O of each layer, the matrices of its MLP, its experts as one. Where one pass
is recorded and all but W_O is frozen there (what modules and heads gave, the gates, the scales of
norms), the output is a sum of what heads, other layers, embeddings and biases write by themselves,
and a change in a head reaches it through no other head or layer: the head's direct effect (Elhage
et al. 2021). An activation in the language-model head counts as a gate: the ratio of its output to
its input is frozen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from core.model.interventions.changing import Intervention
from core.model.language import Wrapped

_NORMS = {functional.layer_norm, functional.rms_norm}
_GATES = {"softmax", "sigmoid", "rsqrt"}
_POWERS = {"pow", "__pow__"}
_ACTIVATIONS = {"gelu", "relu", "silu", "tanh"}
_SOURCES = {"embedding", "conv2d"}
_SUMS = {"add", "__add__"}
_OF_EXPERTS = {"experts", "router"}  # modules that a mixture of experts has


class Stream(TorchFunctionMode):
    """A `Change` (:mod:`core.model.capture.calls`) for passes of a network over copies of an input.

    The first pass, of one unchanged copy, is recorded; later passes use it.

    Attributes
    ----------
    sounds : whether what is written counts, or is zero: by a "head", by the rest of a "layer", by
        "embeddings", or as a "bias"; after which attention call, from 0, or -1 before the first.
    leaves : of what is written in passes with gradients: kind, attention call and values.

    Parameters
    ----------
    network : what runs; its layers are in lists. Matrices elsewhere, after them, read the stream.
    frozen : whether later passes are linear. Otherwise they compute once what all copies share, up
        to the heads of the first changed layer, and norms read what is written.
    """

    def __init__(self, network: Any, *, frozen: bool = True) -> None:  # noqa: ANN401 - a network
        super().__init__()
        self.sounds: Callable[[str, int], bool] = lambda _kind, _layer: True
        self.leaves: list[tuple[str, int, torch.Tensor]] = []
        self.frozen = frozen
        self._kept: list[tuple[Any, list[Any], int]] = []  # outputs, the lengths of their inputs
        self._network = self._copied(network)

    def begin(self, change: Intervention) -> Any:  # noqa: ANN401 - a network
        """Call before each pass: returns a copy of the network to run, which shares its weights."""
        self._change, self._records, self._at = change, not self._kept, 0
        # The first layer whose heads differ from copy to copy.
        self._first = min((*(each.layer for each in change.replaced), *change.cells), default=0)
        self._layer = -1  # the last attention call
        self._joins = False  # whether the next matrix is W_O
        self._reads = False  # whether all layers are done, and what follows reads the stream
        self._inputs: list[Any] = []  # of the matrices since the last W_O
        return self._network

    def forbidden(self, number: int) -> torch.Tensor | None:
        """The cells of a layer."""
        return self._change.forbidden(number)

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer's heads, as changed; what multiplies them next is W_O."""
        self._layer, self._joins = number, True
        return self._change.output(number, self._part("head", self._keep(output, lambda: output)))

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
            args = (args[0], self._part("bias", args[1]))
        if func in _NORMS:
            return self._norm(func, *args, **options)
        is_root = name in _POWERS and isinstance(args[1], float) and args[1] < 0
        if name in _GATES or is_root:
            return self._keep(args[0], lambda: func(*args, **options))
        result = func(*args, **options)
        if self._reads and name in _ACTIVATIONS:
            states = args[0]
            return states * self._keep(states, lambda: torch.where(states == 0, 0, result / states))
        is_source = name in _SOURCES and self._layer < 0
        return self._part("embeddings", result) if is_source else result

    def _write(self, module: torch.nn.Module, in_layer: bool, run: partial[Any]) -> Any:  # noqa: ANN401 - what it gives
        """What a module writes, or a tuple led by it; W_O and what reads the stream stay linear."""
        states = next(iter((*run.args, *run.keywords.values())))
        self._reads = self._reads or (self._layer >= 0 and not in_layer)
        # What reads the same as queries does not read heads: it is their gate.
        gates = self._joins and any(states is each for each in self._inputs)
        linear = self._reads or (self._joins and not gates)
        self._joins, self._inputs = gates, [] if linear else [*self._inputs, states]
        if linear and self.frozen:
            bias = getattr(module, "bias", None)
            return run() if bias is None else run() + (self._part("bias", bias) - bias)
        if self._reads:
            return run()
        output = self._keep(states, run)
        return output if gates else self._part("layer" if in_layer else "embeddings", output)

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
        return result if bias is None else result + self._part("bias", bias)

    def _part(self, kind: str, output: Any) -> Any:  # noqa: ANN401 - the same, or zero
        first, *rest = output if isinstance(output, tuple) else (output,)
        if not self.sounds(kind, self._layer):
            first = torch.zeros_like(first)
        elif torch.is_grad_enabled():
            leaf = first.detach().requires_grad_()
            self.leaves.append((kind, self._layer, leaf))
            first = leaf.clone()  # networks add to it in place
        return (first, *rest) if rest else first

    def _keep(self, states: torch.Tensor, compute: Callable[[], Any]) -> Any:  # noqa: ANN401 - as computed
        """What `compute` gives in the recorded pass; in later ones the same, for each copy."""
        if not (self.frozen or self._records or self._layer < self._first):
            return compute()
        place = self._at
        if self._records:
            output = compute()
            first, *rest = output if isinstance(output, tuple) else (output,)
            self._kept[place:] = [(first.detach(), rest, len(states))]  # not what its parts gave
        self._at = place + 1
        first, rest, length = self._kept[place]
        copies = len(states) // length  # 1 where the batch is not in the first axis
        first = first.repeat(copies, *[1] * (first.dim() - 1))  # networks add to it in place
        return (first, *rest) if rest else first

    def _copied(self, module: Any, in_layer: bool = False) -> Any:  # noqa: ANN401 - a module
        """The module with its writers wrapped, for this object alone.

        Experts are one writer: which tokens one of them gets differs from pass to pass.
        """
        copied = partial(self._copied, in_layer=in_layer or isinstance(module, torch.nn.ModuleList))
        if isinstance(module, Wrapped):
            return module.within(copied)
        children = {name: child for name, child in module._modules.items() if child is not None}  # noqa: SLF001 - shared by copies
        if not _OF_EXPERTS.isdisjoint(children) or (not children and _is_matrix(module)):
            return Wrapped(module, partial(self._write, module, in_layer))
        twin = copy.copy(module)
        own = {name: copied(child) for name, child in children.items()}
        twin.__dict__["_modules"] = module._modules | own  # noqa: SLF001 - likewise
        return twin


def _is_matrix(module: torch.nn.Module) -> bool:
    """Whether it multiplies states by a matrix; a table of embeddings does not."""
    own = module._parameters.values()  # noqa: SLF001 - those of its parts do not count
    matrices = any(each is not None and each.dim() == 2 for each in own)
    return matrices and not isinstance(module, torch.nn.Embedding)
