"""Heads' outputs on other texts or images: the reference that replacements come from."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, Unpack
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.corpus.sample import sample_sentences
from core.model import sample_images
from core.model.image.pixels import as_rgb
from core.model.interventions.probe import Cut, Probe, as_input, run, whole_probe
from core.model.refusal import refusing_to
from core.model.weights.output_projection import value_grams

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

    from core.model.interventions.probe import Source
    from core.model.running.loaded import LoadedModel

    Outputs = tuple[torch.Tensor, ...]  # of each layer that attends, (token, head, dim)

Doubles = NDArray[np.float64]
TEXTS = 48  # of the sample corpus, evenly spread


class Sample(NamedTuple):
    """A text or an image of the reference: its identity, and every head's outputs on it."""

    identity: str
    outputs: Outputs


_kept: WeakKeyDictionary[PreTrainedModel, tuple[Sample, ...]] = WeakKeyDictionary()


def reference_texts() -> tuple[str, ...]:
    """Sentences of the sample corpus, which come with the app."""
    texts = sample_sentences()
    return texts[:: len(texts) // TEXTS][:TEXTS]


def samples_of(model: LoadedModel) -> Sequence[Source]:
    """The :func:`reference_texts`, or all sample images."""
    if model.sees_images:
        return [sample_images.open_sample_image(name) for name in sample_images.SAMPLE_IMAGES]
    return reference_texts()


@refusing_to("run")
def reference_samples(model: LoadedModel, texts: Sequence[str] | None = None) -> tuple[Sample, ...]:
    """Every head's outputs, before W_O, on each of `texts`; those of the default are cached.

    The default is :func:`samples_of`. They take about 4 * layers * heads * dim bytes per token:
    3 MB for a small encoder. They are cached by network, which gives the same whichever way its
    attention is recorded.
    """
    if texts is None and model.network in _kept:
        return _kept[model.network]
    samples = tuple(
        Sample(identity_of(model, each), outputs_of(whole_probe(model, as_input(model, each))))
        for each in texts or samples_of(model)
    )
    if texts is None:
        _kept[model.network] = samples
    return samples


def identity_of(model: LoadedModel, source: Source) -> str:
    """A key that is equal for texts of the same tokens, and for images of the same pixels."""
    if isinstance(source, str):
        return repr(as_input(model, source).ids)
    rgb = as_rgb(source)
    return f"{rgb.size} {sha256(rgb.tobytes()).hexdigest()}"


def outputs_of(probe: Probe) -> Outputs:
    """Every head's output, before W_O, in one pass of the probe's network."""
    outputs: list[torch.Tensor] = []
    run(probe, check=lambda _call, output, _weights: outputs.append(output[0].clone()))
    return tuple(outputs)


def aligned_outputs(samples: Sequence[Sample], identity: str, tokens: int) -> Outputs:
    """The outputs of the sample nearest in length, aligned to a text of this many `tokens`.

    Its first token stands for the first and its last for the last; those between are matched by
    relative position. The sample of that `identity` is used only if there is no other.
    """
    import torch

    others = [each for each in samples if each.identity != identity] or samples
    other = min((each.outputs for each in others), key=lambda each: abs(len(each[0]) - tokens))
    places = torch.linspace(0, len(other[0]) - 1, tokens).round().long()
    return tuple(layer[places] for layer in other)


@refusing_to("run")
def written_norms(model: LoadedModel, text: Source, **cut: Unpack[Cut]) -> Doubles | None:
    """The norm of what each head adds to the residual stream, (layer, head).

    The root mean square over tokens, without the bias of W_O, which belongs to no head.
    None where W_O is not known.
    """
    grams = value_grams(model)
    if grams is None:
        return None
    outputs = outputs_of(whole_probe(model, as_input(model, text, **cut)))
    own = (each.double().cpu().numpy() for each in outputs)
    each_layer = zip(own, grams, strict=True)
    squares = [np.einsum("thd,hde,the->th", v, gram, v, optimize=True) for v, gram in each_layer]
    return np.sqrt(np.mean(np.maximum(squares, 0), axis=1))
