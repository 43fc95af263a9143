"""TransformerLens' effects of heads, in an environment of its own, which this script runs in.

``python lens.py FOLDER``: a line of JSON in, a line out. First ``{"reference": [ids, ...]}``, texts
whose means are taken; then ``{"ids": ids, "replace": "zero" or "mean", "at_once": bool}`` gives
for each head how much the likeliest token loses of its lead over the second at the last position.
The model is its bridge with the weights as they are: nothing is folded or centred.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any


def main() -> None:
    """Answer until the input ends."""
    import torch
    from transformer_lens.model_bridge import TransformerBridge
    from transformers.utils import logging

    logging.disable_progress_bar()
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever the library prints
    torch.set_grad_enabled(False)
    model = TransformerBridge.boot_transformers(sys.argv[1], device="cpu")
    means = _means(model, json.loads(sys.stdin.readline())["reference"])
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        values = means if asked["replace"] == "mean" else [0 * each for each in means]
        run = _at_once if asked["at_once"] else _one_by_one
        print(
            json.dumps(run(model, torch.tensor([asked["ids"]]), values)), file=answers, flush=True
        )


def _name(layer: int) -> str:
    return f"blocks.{layer}.attn.hook_z"


def _means(model: Any, texts: list[list[int]]) -> list[Any]:
    """The mean output of every head, (head, dim) of each layer, over all tokens of all texts."""
    import torch

    names = [_name(layer) for layer in range(model.cfg.n_layers)]
    caches = [
        model.run_with_cache(torch.tensor([ids]), names_filter=names.__contains__)[1]
        for ids in texts
    ]
    return [torch.cat([cache[name][0] for cache in caches]).mean(0) for name in names]


def _put(z: Any, hook: Any, places: list[tuple[int, int]], values: Any) -> Any:
    """Other outputs of heads before W_O, each a (row of the batch, head)."""
    z = z.clone()
    for row, head in places:
        z[row, :, head] = values[head]
    return z


def _one_by_one(model: Any, ids: Any, values: list[Any]) -> list[float]:
    """As its module for patching does: a pass for each head."""
    first, second = model(ids)[0, -1].topk(2).indices.tolist()
    leads = [_lead(model(ids), first, second)]
    for layer, heads in enumerate(values):
        for head in range(len(heads)):
            hook = partial(_put, places=[(0, head)], values=heads)
            logits = model.run_with_hooks(ids, fwd_hooks=[(_name(layer), hook)])
            leads.append(_lead(logits, first, second))
    return [float(leads[0] - each) for each in leads[1:]]


def _at_once(model: Any, ids: Any, values: list[Any]) -> list[float]:
    """All heads in one batch, the last row as it is."""
    places, hooks = 0, []
    for layer, heads in enumerate(values):
        rows = [(places + head, head) for head in range(len(heads))]
        hooks.append((_name(layer), partial(_put, places=rows, values=heads)))
        places += len(heads)
    logits = model.run_with_hooks(ids.expand(places + 1, -1), fwd_hooks=hooks)
    first, second = logits[-1, -1].topk(2).indices.tolist()
    leads = logits[:, -1, first] - logits[:, -1, second]
    return (leads[-1] - leads[:-1]).tolist()


def _lead(logits: Any, first: int, second: int) -> Any:
    return logits[0, -1, first] - logits[0, -1, second]


if __name__ == "__main__":
    main()
