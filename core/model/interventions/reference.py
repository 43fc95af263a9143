"""What heads give on other texts or images: the reference that replacements come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from core.corpus.sample import sample_sentences
from core.model import sample_images
from core.model.capture.forward import inputs_of, recorded
from core.model.image.forward import image_inputs
from core.model.image.pixels import as_rgb
from core.model.refusal import refusing_to
from core.model.running.images import image_input
from core.model.text.inputs import encode

if TYPE_CHECKING:
    import torch
    from PIL import Image
    from transformers import PreTrainedModel

    from core.model.image.pixels import Pixels
    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input

    Source = str | Image.Image | Pixels
    Outputs = tuple[torch.Tensor, ...]  # of each layer that attends, (token, head, dim)

TEXTS = 48  # of the sample corpus, evenly spread


class Sample(NamedTuple):
    """A text or an image of the reference: which one it is, and what every head gives on it."""

    identity: str
    outputs: Outputs


_kept: WeakKeyDictionary[PreTrainedModel, tuple[Sample, ...]] = WeakKeyDictionary()


def reference_texts() -> tuple[str, ...]:
    """Sentences of the sample corpus, which come with the app."""
    texts = sample_sentences()
    return texts[:: len(texts) // TEXTS][:TEXTS]


@refusing_to("run")
def reference_samples(model: LoadedModel, texts: Sequence[str] | None = None) -> tuple[Sample, ...]:
    """What every head gives, before W_O, on each of `texts`; those of the default are kept.

    Without `texts`, on :func:`reference_texts`, or on the sample images. About
    4 layers heads dim bytes a token: 3 MB for a small encoder. They are kept with the network,
    which gives the same whichever way its attention is recorded.
    """
    if texts is None and model.network in _kept:
        return _kept[model.network]
    sources: Sequence[Source] = texts or reference_texts()
    if model.sees_images:
        sources = [sample_images.open_box(name) for name in sample_images.BOX]
    samples = tuple(
        Sample(identity_of(model, each), head_outputs(model, _as_input(model, each)))
        for each in sources
    )
    if texts is None:
        _kept[model.network] = samples
    return samples


def _as_input(model: LoadedModel, source: Source) -> Input:
    if isinstance(source, str):
        return encode(model, source, None, None)
    return image_input(model, source)


def identity_of(model: LoadedModel, source: Source) -> str:
    """The same for texts that are the same tokens, and for images of the same pixels."""
    if isinstance(source, str):
        return repr(encode(model, source, None, None).ids)
    rgb = as_rgb(source)
    return f"{rgb.size} {sha256(rgb.tobytes()).hexdigest()}"


def head_outputs(model: LoadedModel, item: Input) -> Outputs:
    """What every head gives on one input, before W_O."""
    network = model.network
    if model.vision is not None and item.patches is not None:
        inputs = image_inputs(network, model.vision, [item.patches.pixels])
    else:
        network = network.get_encoder() if model.is_encoder_decoder else network
        inputs = inputs_of(network, model.tokenizer, [item.ids], [item.segments])
    return outputs_of(model, network, inputs, len(item.tokens))


def outputs_of(
    model: LoadedModel, network: Callable[..., object], inputs: Mapping[str, Any], tokens: int
) -> Outputs:
    """What every head gives in one pass of a network around the model's, of so many tokens."""
    import torch

    outputs: list[torch.Tensor] = []
    with (
        torch.inference_mode(),
        recorded(
            model.way,
            1,
            {tokens},
            check=lambda _call, output, _weights: outputs.append(output[0].clone()),
            keeps=False,
        ),
    ):
        network(**inputs)
    return tuple(outputs)


def mean_outputs(samples: Sequence[Sample]) -> Outputs:
    """The mean over all tokens of all texts, (1, head, dim) of each layer."""
    import torch

    layers = zip(*(each.outputs for each in samples), strict=True)
    return tuple(torch.cat(layer).float().mean(0, keepdim=True) for layer in layers)


def aligned_outputs(samples: Sequence[Sample], identity: str, tokens: int) -> Outputs:
    """Another text's outputs at the tokens of one: of the text nearest in length.

    Its first token stands for the first and its last for the last; those between by their relative
    place. The text of that `identity` is no other text, unless there is none.
    """
    import torch

    others = [each for each in samples if each.identity != identity] or samples
    other = min((each.outputs for each in others), key=lambda each: abs(len(each[0]) - tokens))
    places = torch.linspace(0, len(other[0]) - 1, tokens).round().long()
    return tuple(layer[places] for layer in other)
