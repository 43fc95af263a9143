"""What can go wrong with a model or a text. Each message states the problem and what to do."""

from __future__ import annotations

_MAX_NAME_LENGTH = 200  # characters of a name in a message


class ModelError(Exception):
    """A model or a text cannot be used.

    Parameters
    ----------
    name : the model as the user or a link named it; it may be any text.
    problem : one sentence; ``{name}`` stands for the model.
    advice : one sentence: what to do instead.
    """

    def __init__(self, name: str, problem: str, advice: str) -> None:
        self.name = name
        self.problem = problem
        self.advice = advice
        super().__init__(f"{problem.replace('{name}', repr(name[:_MAX_NAME_LENGTH]))} {advice}")


class UnknownModelError(ModelError):
    """There is no such folder, catalogue name or model id, or the model is private."""


class NotOfferedError(ModelError):
    """The deployment does not offer the model."""


class NotDownloadedError(ModelError):
    """The weights are not on this machine yet; downloading them takes `size_mb`."""

    def __init__(self, name: str, problem: str, advice: str, size_mb: int = 0) -> None:
        self.size_mb = size_mb
        super().__init__(name, problem, advice)


class DownloadRefusedError(ModelError):
    """A download is too large, does not fit on the disk, or was abandoned."""


class HubUnreachableError(ModelError):
    """The model hub did not answer in time."""


class BundledModelError(ModelError):
    """A bundled model is missing, or its files differ from the published ones."""


class TooShortError(ModelError, ValueError):
    """The model accepts too few tokens for the request."""


class NoWeightsError(ModelError):
    """There are no safetensors weights: none at all, or only pickled ones."""


class UnsupportedModelError(ModelError):
    """An encoder-decoder, foreign code, no fast tokenizer, or attention we cannot capture."""


class OutOfMemoryError(ModelError):
    """The model or the text does not fit in memory."""


class EmptyTextError(ModelError):
    """Tokenization left no token to look at."""
