"""What a network runs while it is checked: texts of its tokenizer, or pictures.

Texts are a short one, a long one, and a pair. Pictures are two of the model's own size and, after
them, one of another size and shape, which shows whether the model takes other sizes. A random half
of a picture's patches are changed: the queries, keys and values of exactly those tokens must
change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.capture.calls import Check, Recorder
from core.model.capture.forward import AttentionMode, run_batch
from core.model.capture.interface import IMPLEMENTATION
from core.model.encoder_decoder import Lengths, start_id
from core.model.errors import PICK_ANOTHER, PICK_VISION, ModelError, UnsupportedModelError
from core.model.image.facts import MAX_PATCHES, Size, Vision
from core.model.image.forward import image_size, run_images
from core.model.image.pixels import Pixels
from core.model.proof.agreement import DiffersError
from core.model.proof.runs import Passes, Runs, Samples
from core.model.text.vocabulary import check_ids
from core.model.trace import Trace

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast


PROBE_TEXT = "The quick brown fox jumps over the lazy dog, and nobody minds."
PROBE_PAIR = ("Where is the dog?", "It jumps over the fox.")
_PADDING = 8  # minimum tokens of padding, for the short text beside the long one
LONG_TOKENS = 40  # of the long text, unless the model's windows ask for more
MAX_LONG_TOKENS = 520  # windows are mostly 128 or 512 tokens, or longer than most texts here
_WINDOW = re.compile(r"window|chunk|local_attention")
# Set by networks whose queries choose this many keys. Some do so only for attention functions that
# they know by name, and no text of the check is as long as the usual number, 2,048.
_CHOSEN = re.compile(r"^index_topk")


@dataclass(frozen=True)
class Text:
    """Token ids and segments, one of each per token, and what a decoder reads, if there is one."""

    ids: list[int]
    segments: list[int]
    target: list[int] | None = None


@dataclass(frozen=True)
class ProofTexts(Samples[Text]):
    """A short text, one longer than most windows, and a pair if the network takes one."""

    tokenizer: PreTrainedTokenizerFast
    max_tokens: int  # that the network takes
    mismatch = (
        "attends to more or fewer tokens than the text has, so its maps would not fit the text."
    )
    failed = "cannot be run on a text alone; it may need images or sound"
    advice = PICK_ANOTHER

    def run(
        self, items: Sequence[Text], way: AttentionMode, check: Check | None
    ) -> tuple[Recorder, object]:
        """Run them together."""
        targets = [text.target for text in items if text.target is not None]
        return run_batch(
            self.network,
            self.tokenizer,
            [text.ids for text in items],
            [text.segments for text in items],
            way=way,
            check=check,
            targets=targets or None,
        )

    def lengths(self, items: Sequence[Text]) -> Lengths:
        """Their tokens, and those of their targets."""
        targets = [len(text.target) for text in items if text.target is not None]
        return Lengths([len(text.ids) for text in items], targets or None)


def texts_for(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> ProofTexts:
    """The check texts for a network that takes at most `max_tokens`.

    Raises
    ------
    UnsupportedModelError
        When the tokenizer does not belong to the network.
    """

    def encode(tokens: int, *texts: str) -> Text:
        encoded = tokenizer(*texts, verbose=False, truncation=True, max_length=tokens)
        ids: list[int] = encoded["input_ids"]
        text = Text(ids, encoded.get("token_type_ids", [0] * len(ids)))
        return _with_target(text, network.config) if network.config.is_encoder_decoder else text

    short = encode(max_tokens // 2, PROBE_TEXT)
    check_ids(network, short.ids)
    length = _long_length(network.config, len(short.ids), max_tokens)
    long = encode(length, " ".join([PROBE_TEXT] * length))
    texts = [short, long, encode(max_tokens, *PROBE_PAIR)]
    try:
        check_ids(network, texts[-1].ids, texts[-1].segments)
    except UnsupportedModelError:
        texts.pop()
    return ProofTexts(network, texts, long, tokenizer, max_tokens)


def chooses_keys(config: PreTrainedConfig) -> bool:
    """Whether queries choose their keys, by a setting that the check texts may be too short for."""
    return bool(_sizes(config.to_dict(), _CHOSEN))


def _with_target(text: Text, config: PreTrainedConfig) -> Text:
    """The text with half of its tokens as target: a length that tells whose tokens attend."""
    half = text.ids[: max(1, len(text.ids) // 2 - 1)]
    return Text(text.ids, text.segments, [start_id(config, text.ids), *half])


def _long_length(config: PreTrainedConfig, short: int, max_tokens: int) -> int:
    """Tokens of the long text: more than the short one has and, if possible, than any window."""
    windows = [size + 2 for size in _sizes(config.to_dict(), _WINDOW)]
    reached = [size for size in windows if size <= MAX_LONG_TOKENS]
    return min(max_tokens, max([LONG_TOKENS, short + _PADDING, *reached]))


def _sizes(settings: object, names: re.Pattern[str], name: str = "") -> list[int]:
    """Every positive integer setting with a matching name, in the model's parts too."""
    if isinstance(settings, dict):
        parts = (_sizes(value, names, str(key)) for key, value in settings.items())
        return [size for part in parts for size in part]
    if isinstance(settings, bool) or not isinstance(settings, int) or settings < 1:
        return []
    return [settings] if names.search(name) else []


_SEED = 0
# A token counts as changed above this, relative to the layer's largest number: more than rounding,
# far less than what another patch changes.
_CHANGED, _CHANGED_ROUNDINGS = 1e-4, 8


@dataclass(frozen=True)
class Pictures(Samples[Pixels]):
    """Two pictures of the model's own size."""

    vision: Vision
    mismatch = (
        "has other tokens than one for each patch of the image and those named here ([CLS],"
        " registers): it may attend within windows, merge patches, or add tokens of its own."
    )
    failed = "cannot be run on an image alone"
    advice = PICK_VISION

    def run(
        self, items: Sequence[Pixels], way: AttentionMode, check: Check | None
    ) -> tuple[Recorder, object]:
        """Run them together; all are of one size."""
        return run_images(self.network, self.vision, items, way=way, check=check)

    def lengths(self, items: Sequence[Pixels]) -> Lengths:
        """Their tokens."""
        return Lengths([self.vision.tokens(image_size(each)) for each in items])

    def extra_passes(self, runs: Runs[Pixels], first: Trace) -> Passes[Pixels]:
        """A pass of another size, if the model takes it; tokens must be the patches in order."""
        _check_places(runs, self.vision, self.all[0], first)
        other, error = _picture(_other_size(self.vision), 2), runs.error
        try:
            return [([other], runs.traces([other]))]
        except (DiffersError, ModelError, RuntimeError, ValueError, IndexError, TypeError):
            runs.error = error
            return []


def pictures_for(network: PreTrainedModel, vision: Vision) -> Pictures:
    """The check pictures for a network."""
    pictures = [_picture(vision.image_size, seed) for seed in range(2)]
    return Pictures(network, pictures, pictures[0], vision)


def usual_size(network: PreTrainedModel, vision: Vision) -> Vision:
    """`vision` with the size that the checkpoint's processor makes, if the network takes it.

    DINOv2 was built for 518 pixels and is published with a processor that makes 224.
    """
    rows, columns = vision.grid(vision.processing.crop)
    size = (rows * vision.patch_size, columns * vision.patch_size)
    if size == vision.image_size or not 1 <= rows * columns <= MAX_PATCHES:
        return vision
    is_exact = network.config._attn_implementation == IMPLEMENTATION  # noqa: SLF001
    way: AttentionMode = "exact" if is_exact else "watched"
    try:
        run_images(network, vision, [_picture(size, 0)], way=way)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return vision
    return replace(vision, image_size=size)


def _picture(size: Size, seed: int) -> Pixels:
    """A picture with a random colour in every pixel."""
    return np.random.default_rng((_SEED, seed)).integers(0, 256, (*size, 3), dtype=np.uint8)


def _other_size(vision: Vision) -> Size:
    """One row more than the model's own size and two columns more, so that it is not square."""
    height, width = vision.image_size
    return height + vision.patch_size, width + 2 * vision.patch_size


def _check_places(run: Runs[Pixels], vision: Vision, picture: Pixels, trace: Trace) -> None:
    """Refuse a network whose tokens are not its special ones and then the patches, row by row.

    A wrong order, such as by columns, would change other tokens than those expected.
    """
    rows, columns = vision.grid()
    half = np.random.default_rng((_SEED, 3)).permutation(rows * columns)[: -(-rows * columns // 2)]
    expected = np.zeros(vision.tokens(), dtype=bool)
    expected[vision.first + half] = True
    of_patches = expected[vision.first :].reshape(rows, columns)
    mask = of_patches.repeat(vision.patch_size, 0).repeat(vision.patch_size, 1)
    (other,) = run.traces([np.where(mask[..., None], 255 - picture, picture)])
    if not np.array_equal(_changed(trace, other, run.eps), expected):
        raise UnsupportedModelError(
            f"The tokens of {{name}} ({run.network.config.model_type}) are not the patches of an"
            " image row by row, so its maps cannot be laid over it.",
            PICK_VISION,
        )


def _changed(trace: Trace, other: Trace, eps: float) -> NDArray[np.bool_]:
    """Which tokens got other queries, keys or values in the first layer."""
    changed = np.zeros(trace.shape[2], dtype=bool)
    for name in ("queries", "kv_keys", "kv_values"):
        one, two = (getattr(each, name)[0] for each in (trace, other))
        limit = max(_CHANGED, _CHANGED_ROUNDINGS * eps) * np.abs(one).max()
        changed |= np.abs(one - two).max(axis=(0, 2)) > limit
    return changed
