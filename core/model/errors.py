"""Refusals and failures of the model floor. Each message says what was found and the way out."""

from __future__ import annotations


class ModelError(Exception):
    """A model or a text cannot be used.

    Parameters
    ----------
    found : one sentence that names the model and what was found.
    way_out : one sentence that says what to do instead.
    """

    def __init__(self, found: str, way_out: str) -> None:
        super().__init__(f"{found} {way_out}")
        self.found = found
        self.way_out = way_out


class UnknownModelError(ModelError):
    """No such folder, catalogue name or model id; or it is private."""


class NotOfferedError(ModelError):
    """This deployment does not offer the model."""


class NotDownloadedError(ModelError):
    """The model exists, but its weights are not on this machine yet."""


class HubUnreachableError(ModelError):
    """The model hub did not answer in time."""


class NoWeightsError(ModelError):
    """No safetensors weights: none at all, or only in pickle form."""


class UnsupportedModelError(ModelError):
    """Encoder-decoder, foreign code, no fast tokenizer, or attention that cannot be captured."""


class OutOfMemoryError(ModelError):
    """The model or the text does not fit into memory."""


class EmptyTextError(ModelError):
    """Nothing is left to look at after tokenization."""
