"""Turn whatever goes wrong in `core.model` into a ModelError: one sentence and what to do."""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, TypeVar

from core.model.errors import FREE_MEMORY, ModelError, OutOfMemoryError, UnsupportedModelError
from core.model.left_alone import left_alone
from core.model.memory import is_out_of_memory

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel

P = ParamSpec("P")
T = TypeVar("T")

Action = Literal["load", "run", "see", "read"]
_FAILED: dict[Action, str] = {
    "load": "cannot be loaded: its files led to an error",
    "run": "cannot be run on this text: the network stopped with an error",
    "see": "cannot be run on this image: the network stopped with an error",
    "read": "has weights that cannot be read for this view: they led to an error",
}
_OUT_OF_MEMORY: dict[Action, tuple[str, str]] = {
    "load": ("There is not enough memory to load {name}.", FREE_MEMORY),
    "run": (
        "There is not enough memory to run this text through {name}.",
        "Use a shorter text or a smaller model.",
    ),
    "see": (
        "There is not enough memory to run this image through {name}.",
        "Use a smaller size or a smaller model.",
    ),
    "read": ("There is not enough memory to read the weights of {name}.", FREE_MEMORY),
}
_log = logging.getLogger(__name__)


class refusing:  # noqa: N801 - reads as a statement: with refusing(name, "load")
    """Turn any exception in the block into a ModelError; a ModelError gets its name here.

    KeyboardInterrupt, GeneratorExit and Streamlit's signals are not of class Exception and pass. A
    panic in the tokenizers library is not one either, but it is a failure, so it is refused too.

    The app keeps an error while a visitor looks at its message, so the error must not hold on to
    the frames it came through: their variables are networks and texts.

    Parameters
    ----------
    name : the model as the user named it.
    action : what the block does with it.
    """

    def __init__(self, name: str, action: Action) -> None:
        self._name, self._action = name, action

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        """Raise the refusal in place of the error."""
        if error is None or not (isinstance(error, Exception) or _is_panic(error)):
            return False
        refusal = error if isinstance(error, ModelError) else self._refusal_for(error)
        refusal.name = refusal.name or self._name
        _release_frames(error)
        raise refusal.with_traceback(None) from None

    def _refusal_for(self, error: BaseException) -> ModelError:
        # Log where it happened but not the message, which may quote what a visitor typed.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.warning("%s while a model was used:\n%s", type(error).__name__, frames)
        if is_out_of_memory(error):
            return OutOfMemoryError(*_OUT_OF_MEMORY[self._action])
        kind = "a fault in the tokenizer" if _is_panic(error) else type(error).__name__
        return UnsupportedModelError(f"{{name}} {_FAILED[self._action]} ({kind}).")


def refusing_to(
    action: Action,
) -> Callable[[Callable[Concatenate[LoadedModel, P], T]], Callable[Concatenate[LoadedModel, P], T]]:
    """Decorate a function whose first argument is a model: it raises ModelErrors only."""

    def decorate(
        function: Callable[Concatenate[LoadedModel, P], T],
    ) -> Callable[Concatenate[LoadedModel, P], T]:
        @functools.wraps(function)
        def guarded(model: LoadedModel, /, *args: P.args, **kwargs: P.kwargs) -> T:
            with refusing(model.name, action), left_alone(model.network, model.network_lock):
                return function(model, *args, **kwargs)

        return guarded

    return decorate


def _is_panic(error: BaseException) -> bool:
    """Whether Rust code under a Python package panicked; the class cannot be imported."""
    return type(error).__name__ == "PanicException"


def _release_frames(error: BaseException) -> None:
    """Free the frames of an error and of the errors that caused it."""
    cause: BaseException | None = error
    while cause is not None:  # links are cut on the way, so a cycle ends too
        cause.__traceback__ = None
        earlier = cause.__cause__ or cause.__context__
        cause.__cause__ = cause.__context__ = None
        cause = earlier
