"""What can go wrong with a model or a text. Each message states the problem and what to do."""

from __future__ import annotations

PICK_ANOTHER = "Pick a model from the list, for example bundled/minilm."
PICK_VISION = "Pick a plain vision transformer: ViT, DeiT, DINOv2, BEiT, CLIP or SigLIP."
SAVE_AGAIN = "Choose the folder that save_pretrained wrote."
FREE_MEMORY = "Pick a smaller model, or close other programs and try again."
_MAX_NAME_LENGTH = 200  # characters of a name in a message


class ModelError(Exception):
    """A model or a text cannot be used.

    Parameters
    ----------
    problem : one sentence; ``{name}`` stands for the model.
    advice : one sentence: what to do instead.
    name : the model as the user or a link named it; it may be any text. Where it is left out,
        :class:`core.model.refusal.refusing` fills it in.
    """

    def __init__(self, problem: str, advice: str = PICK_ANOTHER, name: str = "") -> None:
        super().__init__(problem, advice, name)
        self.problem, self.advice, self.name = problem, advice, name

    def __str__(self) -> str:
        name = repr(self.name[:_MAX_NAME_LENGTH])
        return f"{self.problem.replace('{name}', name)} {self.advice}"


class UnknownModelError(ModelError):
    """There is no such folder, catalogue name or model id, or the model is private."""


class NotOfferedError(ModelError):
    """The deployment does not offer the model."""


class NotDownloadedError(ModelError):
    """The weights are not on this machine yet; downloading them takes `size_mb`."""

    def __init__(self, problem: str, advice: str, name: str = "", size_mb: int = 0) -> None:
        super().__init__(problem, advice, name)
        self.size_mb = size_mb


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
    """A joined encoder-decoder, foreign code, no fast tokenizer, or uncapturable attention."""


class OutOfMemoryError(ModelError):
    """The model or the text does not fit in memory."""


class EmptyTextError(ModelError):
    """Tokenization left no token to look at."""


class ImageError(ModelError):
    """An image cannot be read, or not at that size."""


class WrongInputError(ModelError):
    """A text was given to a vision model, or an image to a text model."""


def first_line(error: Exception) -> str:
    """What an exception says, short enough for a message."""
    text = str(error).strip().split("\n")[0][:160]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
