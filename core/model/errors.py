"""Refusals and failures of the model floor. Each message says what was found and the way out."""

from __future__ import annotations

_LONGEST_NAME = 200  # characters of a name in a message


class ModelError(Exception):
    """A model or a text cannot be used.

    Parameters
    ----------
    name : the model as it was asked for: anything a person, or a link, may have typed.
    found : one sentence that says what was found; ``{name}`` stands for the model.
    way_out : one sentence that says what to do instead.
    """

    def __init__(self, name: str, found: str, way_out: str) -> None:
        self.name = name
        self.found = found
        self.way_out = way_out
        super().__init__(f"{found.replace('{name}', repr(name[:_LONGEST_NAME]))} {way_out}")


class UnknownModelError(ModelError):
    """No such folder, catalogue name or model id; or it is private."""


class NotOfferedError(ModelError):
    """The model is not among those that a deployment offers."""


class NotDownloadedError(ModelError):
    """The model exists, but its weights are not on this machine yet: `size_mb` are to come."""

    def __init__(self, name: str, found: str, way_out: str, size_mb: int = 0) -> None:
        self.size_mb = size_mb
        super().__init__(name, found, way_out)


class DownloadRefusedError(ModelError):
    """A download is too large, has no room, is not what was announced, or nobody waits for it."""


class HubUnreachableError(ModelError):
    """The model hub did not answer in time."""


class BundledModelError(ModelError):
    """A model that comes with the installation is not there, or is not the published one."""


class TooShortError(ModelError, ValueError):
    """The model takes too few tokens for what is asked of it."""


class NoWeightsError(ModelError):
    """No safetensors weights: none at all, or only in pickle form."""


class UnsupportedModelError(ModelError):
    """Encoder-decoder, foreign code, no fast tokenizer, or attention that cannot be captured."""


class OutOfMemoryError(ModelError):
    """The model or the text does not fit into memory."""


class EmptyTextError(ModelError):
    """Nothing is left to look at after tokenization."""
