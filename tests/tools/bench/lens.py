"""Effects of all heads beside TransformerLens 4.3: how far they agree.

It lives in an environment of its own (``pip install torch==2.13.0 "transformer-lens==4.3.*"``),
whose Python HEADSCOPE_TRANSFORMERLENS names. That Python runs this file: ``python lens.py FOLDER``,
a line of JSON in, a line out. First ``{"reference": [ids, ...]}``, texts whose means are taken;
then ``{"ids": ids, "replace": "zero" or "mean"}`` gives for each head how much the likeliest token
loses of its lead over the second at the last position, all heads in one batch. The model is its
bridge with the weights as they are: nothing is folded or centred.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from core.model.interventions.heads import Replace

CAUSAL = "bundled/gpt2-novels"
PYTHON = os.environ.get("HEADSCOPE_TRANSFORMERLENS")


def apart(replace: Replace) -> list[float]:
    """The largest difference of a head's effect on both sides, in logits."""
    import numpy as np

    with _Peer() as peer:
        return [float(np.abs(_ours(replace) - peer.effects(replace)).max())]


def _ours(replace: Replace) -> Any:
    from core.model import effects
    from tests.tools.bench.measuring import loaded, sentence_of

    text = sentence_of(16)
    return effects(loaded(CAUSAL), text, replace, "logit_difference", draws=0).values.ravel()


class _Peer:
    """The process of that Python, with our model, which has taken the means of the reference."""

    def __init__(self) -> None:
        from core.model.catalog import bundled_folder, find
        from core.model.interventions.heads import as_input
        from core.model.interventions.reference import reference_samples, reference_texts
        from tests.tools.bench.measuring import LeftOutError, loaded, sentence_of

        spec = find(CAUSAL)
        if PYTHON is None or spec is None:
            raise LeftOutError("HEADSCOPE_TRANSFORMERLENS names no Python")
        model = loaded(CAUSAL)
        reference_samples(model)
        self._ids = as_input(model, sentence_of(16)).ids
        command = [PYTHON, str(Path(__file__)), str(bundled_folder(spec))]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd="/")
        self._ask({"reference": [as_input(model, text).ids for text in reference_texts()]})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def effects(self, replace: Replace) -> Any:
        return self._ask({"ids": self._ids, "replace": replace})

    def _ask(self, question: dict[str, object]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def _answer() -> None:
    """The other side: answers until the input ends."""
    import torch
    from transformer_lens.model_bridge import TransformerBridge

    answers, sys.stdout = sys.stdout, sys.stderr  # whatever the library prints
    torch.set_grad_enabled(False)
    model = TransformerBridge.boot_transformers(sys.argv[1], device="cpu")
    names = [f"blocks.{layer}.attn.hook_z" for layer in range(model.cfg.n_layers)]
    texts = [torch.tensor([ids]) for ids in json.loads(sys.stdin.readline())["reference"]]
    caches = [model.run_with_cache(text, names_filter=names.__contains__)[1] for text in texts]
    means = [torch.cat([cache[name][0] for cache in caches]).mean(0) for name in names]
    print("true", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        values = [each * (asked["replace"] == "mean") for each in means]  # (head, dim) a layer
        heads, layers = len(values[0]), enumerate(zip(names, values, strict=True))
        hooks = [(name, partial(_put, first=i * heads, values=own)) for i, (name, own) in layers]
        ids = torch.tensor([asked["ids"]]).expand(len(values) * heads + 1, -1)
        logits = model.run_with_hooks(ids, fwd_hooks=hooks)[:, -1]  # the last row as it is
        best, second = logits[-1].topk(2).indices.tolist()
        leads = logits[:, best] - logits[:, second]
        print(json.dumps((leads[-1] - leads[:-1]).tolist()), file=answers, flush=True)


def _put(z: Any, hook: Any, first: int, values: Any) -> Any:
    """Another output of each head before W_O, in the row of the batch that is this head's."""
    z = z.clone()
    for head, value in enumerate(values):
        z[first + head, :, head] = value
    return z


if __name__ == "__main__":
    _answer()
