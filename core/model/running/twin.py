"""The untrained twin of a model: what its shape alone does, before any learning."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from core.model import memory
from core.model.refusal import refusing_to
from core.model.running import network
from core.model.running.loaded import LoadedModel

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TWIN_SEED = 0  # of the fresh weights
_DRAW_LOCK = threading.Lock()  # torch draws weights from one state for all threads


@refusing_to("load")
def untrained_twin(model: LoadedModel, seed: int = TWIN_SEED) -> LoadedModel:
    """The same architecture from the model's own settings, with fresh weights.

    Weights are drawn from `seed` as transformers draws them before training, including those of the
    head for words or classes, where the model has one; torch's own random state stays as it was.
    The check at load holds for the twin too: it depends on the architecture alone, and what is
    recorded and how stays the same. It takes as much memory as the model until the caller lets go
    of it, and as much again while a head is drawn.

    Raises
    ------
    OutOfMemoryError
        When a second network of this size does not fit in free memory.
    """
    import torch

    trained = model.network
    whole = model.language_model if model.classifier is None else model.classifier
    numbers = sum(network.count_numbers(each) for each in (trained, whole) if each is not None)
    memory.check_fits(numbers, trained.dtype.itemsize)
    with _DRAW_LOCK, torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        fresh = _drawn(trained)
        outer = None if whole is None else _around(fresh, trained, whole)
    (fresh if outer is None else outer).to(model.device)  # type: ignore[arg-type]
    heads = {"language_model" if model.classifier is None else "classifier": outer}
    name = f"{model.name} (untrained twin)"
    return replace(model, name=name, network=network.finish(fresh), **heads)  # type: ignore[arg-type]


def _drawn(trained: PreTrainedModel) -> PreTrainedModel:
    """A network of the same class with fresh weights, without parts that `trained` lacks."""
    fresh = type(trained)._from_config(  # noqa: SLF001 - from_config is of the Auto classes
        copy.deepcopy(trained.config),
        attn_implementation=trained.config._attn_implementation,  # noqa: SLF001 - it has no other name
        dtype=trained.dtype,
    )
    for part, _ in list(fresh.named_children()):
        if getattr(trained, part, None) is None:  # a pooler, which no checkpoint with a head has
            setattr(fresh, part, None)
    return fresh


def _around(
    fresh: PreTrainedModel, trained: PreTrainedModel, whole: PreTrainedModel
) -> PreTrainedModel:
    """A fresh head like `whole` has, on top of `fresh`, whose weights it shares.

    `whole` holds `trained` as a part; for an encoder-decoder, it holds the parts of `trained`.
    """
    outer = _drawn(whole)
    for name, part in whole.named_children():
        if part is trained:
            setattr(outer, name, fresh)
        elif part is getattr(trained, name, None):
            setattr(outer, name, getattr(fresh, name))
    outer.tie_weights()
    if getattr(whole, "generation_config", None) is not None:
        outer.generation_config = copy.deepcopy(whole.generation_config)
    return network.finish(outer)
