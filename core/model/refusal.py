"""Nothing but a ModelError leaves this floor: whatever goes wrong becomes one sentence."""

from __future__ import annotations

import functools
import logging
import traceback
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, TypeVar

from core.model.errors import ModelError, OutOfMemoryError, UnsupportedModelError
from core.model.machine.memory import is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from core.model.loaded import LoadedModel

P = ParamSpec("P")
T = TypeVar("T")

Action = Literal["load", "run", "read"]
# What was tried, as a person reads it after the model's name.
_FAILED: dict[Action, str] = {
    "load": "cannot be loaded: its files led to an error",
    "run": "cannot be run on this text: the network stopped with an error",
    "read": "has weights that cannot be read for this view: they led to an error",
}
_OUT_OF_MEMORY: dict[Action, tuple[str, str]] = {
    "load": (
        "There is not enough memory to load {name}.",
        "Pick a smaller model, or close other programs and try again.",
    ),
    "run": (
        "There is not enough memory to run this text through {name}.",
        "Use a shorter text or a smaller model.",
    ),
    "read": (
        "There is not enough memory to read the weights of {name}.",
        "Pick a smaller model, or close other programs and try again.",
    ),
}
_PICK_ANOTHER = "Pick a model from the list, for example bundled/minilm."
_log = logging.getLogger(__name__)


class refusing:  # noqa: N801 - reads as a statement: with refusing(name, "load")
    """Turn what a block raises into a ModelError; a ModelError passes as it is.

    KeyboardInterrupt, GeneratorExit and Streamlit's own signals pass too: they are no Exception.
    A panic of the tokenizers library is none either, but it is a failure and is refused.

    A message is kept as long as a visitor looks at it, so it holds on to nothing: neither to the
    error it came from nor to frames, whose variables are networks and texts.

    Parameters
    ----------
    name : the model as it was asked for.
    action : what the block does with it.
    """

    def __init__(self, name: str, action: Action) -> None:
        self._name, self._action = name, action

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        """Raise the refusal in place of the error."""
        if error is None or not (isinstance(error, Exception) or is_panic(error)):
            return False
        refusal = error if isinstance(error, ModelError) else _refusal_for(self, error)
        _let_go(error)
        raise refusal.with_traceback(None) from None

    def sentence(self, error: BaseException) -> ModelError:
        """What a person is told about an error that nobody foresaw."""
        if is_out_of_memory(error):
            return OutOfMemoryError(self._name, *_OUT_OF_MEMORY[self._action])
        kind = "a fault in the tokenizer" if is_panic(error) else type(error).__name__
        return UnsupportedModelError(
            self._name, f"{{name}} {_FAILED[self._action]} ({kind}).", _PICK_ANOTHER
        )


def refusing_to(
    action: Action,
) -> Callable[[Callable[Concatenate[LoadedModel, P], T]], Callable[Concatenate[LoadedModel, P], T]]:
    """Decorate a function of a model, so that a ModelError is all it raises."""

    def decorate(
        function: Callable[Concatenate[LoadedModel, P], T],
    ) -> Callable[Concatenate[LoadedModel, P], T]:
        @functools.wraps(function)
        def guarded(model: LoadedModel, /, *args: P.args, **kwargs: P.kwargs) -> T:
            with refusing(model.name, action):
                return function(model, *args, **kwargs)

        return guarded

    return decorate


def is_panic(error: BaseException) -> bool:
    """Whether Rust code under a Python package gave up; its class can be imported from nowhere."""
    return type(error).__name__ == "PanicException"


def _refusal_for(block: refusing, error: BaseException) -> ModelError:
    # The place without the message: a message may hold what a visitor typed.
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.warning("%s while a model was used:\n%s", type(error).__name__, frames)
    return block.sentence(error)


def _let_go(error: BaseException) -> None:
    """Free the frames of an error and of those it came from."""
    chain: BaseException | None = error
    seen: set[int] = set()
    while chain is not None and id(chain) not in seen:
        seen.add(id(chain))
        chain.__traceback__ = None
        earlier = chain.__cause__ or chain.__context__
        chain.__cause__ = chain.__context__ = None
        chain = earlier
