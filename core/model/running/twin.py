"""The untrained twin of a vision model: what its shape alone does, before any learning."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace

from core.model import memory
from core.model.refusal import refusing_to
from core.model.running import network
from core.model.running.images import vision_of
from core.model.running.loaded import LoadedModel

TWIN_SEED = 0  # of the fresh weights
_DRAW_LOCK = threading.Lock()  # torch draws weights from one state for all threads


@refusing_to("load")
def untrained_twin(model: LoadedModel, seed: int = TWIN_SEED) -> LoadedModel:
    """The same architecture from the model's own settings, with fresh weights.

    Weights are drawn as transformers draws them before training, from `seed`; torch's own random
    state stays as it was. The check at load holds for the twin too: it is of the architecture, and
    what is recorded and how stays the same. It takes as much memory as the model, until the caller
    lets go of it.

    Raises
    ------
    WrongInputError
        When the model reads texts.
    OutOfMemoryError
        When a second network of this size does not fit in free memory.
    """
    import torch

    vision_of(model)
    trained = model.network
    memory.check_fits(network.count_numbers(trained), trained.dtype.itemsize)
    attention = trained.config._attn_implementation  # noqa: SLF001 - it has no other name
    with _DRAW_LOCK, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = type(trained)._from_config(  # noqa: SLF001 - from_config is of the Auto classes
            copy.deepcopy(trained.config), attn_implementation=attention, dtype=trained.dtype
        )
    for part, _ in list(fresh.named_children()):
        if getattr(trained, part, None) is None:  # a pooler, which no checkpoint with a head has
            setattr(fresh, part, None)
    network.finish(fresh).to(model.device)  # type: ignore[arg-type]
    name = f"{model.name} (untrained twin)"
    return replace(model, name=name, network=fresh, classifier=None)
