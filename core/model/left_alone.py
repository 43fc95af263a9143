"""Undo what a pass leaves behind in the modules of networks that change themselves.

BigBird gives up its sparse attention for good at the first short text, and rotary embeddings that
stretch with the text keep the stretch. The next text must find the network as it was loaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading

    import torch

_TABLES = ("_parameters", "_buffers", "_modules")  # where a module keeps what it holds by name


class ModuleStates:
    """The state of a network's modules: plain attributes, buffers and parts, by identity.

    What a pass adds, such as the mark that hooks are installed, is left there.
    """

    def __init__(self, network: torch.nn.Module) -> None:
        self._states = [(module, *_state_of(module)) for module in network.modules()]

    def put_back(self) -> bool:
        """Undo what has changed since; returns whether anything had."""
        changed = False
        for module, attributes, tables in self._states:
            now, tables_now = _state_of(module)
            if _are_same(attributes, now) and all(map(_are_same, tables, tables_now)):
                continue
            changed = True
            module.__dict__.update(attributes)
            for name, table in zip(_TABLES, tables, strict=True):
                module.__dict__[name].update(table)
        return changed


@contextlib.contextmanager
def left_alone(network: torch.nn.Module, lock: threading.RLock | None) -> Iterator[None]:
    """Put back what passes change, one thread at a time; no lock means nothing changes."""
    if lock is None:
        yield
        return
    with lock:
        states = ModuleStates(network)
        try:
            yield
        finally:
            states.put_back()


def _state_of(module: torch.nn.Module) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    state = module.__dict__
    plain = {name: value for name, value in state.items() if name not in _TABLES}
    return plain, [dict(state[name]) for name in _TABLES]


def _are_same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return all(_is_same(value, after.get(name)) for name, value in before.items())


def _is_same(before: object, after: object) -> bool:
    plain = isinstance(before, str | int | float) and isinstance(after, str | int | float)
    return before is after or (plain and before == after)
