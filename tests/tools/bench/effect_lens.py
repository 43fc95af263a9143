"""Effects of all heads beside TransformerLens 4.3: how far they agree, and the time of each.

It lives in an environment of its own (``pip install torch==2.13.0 "transformer-lens==4.3.*"``); the
variable HEADSCOPE_TRANSFORMERLENS names its Python. Without it, our side alone is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.model import effects, load
from core.model.catalog import bundled_folder, find
from core.model.interventions.heads import as_input
from core.model.interventions.reference import reference_samples, reference_texts
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.timing import by_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from core.model import LoadedModel
    from core.model.interventions.heads import Replace

    Asked = dict[str, object]

PYTHON = os.environ.get("HEADSCOPE_TRANSFORMERLENS")
CAUSAL = "bundled/gpt2-novels"
# In parts of a logit: effects are differences of float32 logits.
AGREES = 1e-4
REPETITIONS = few({CAUSAL: 20, "12 layers of 12 heads, random": 3}, {CAUSAL: 1})
_RANDOM = {"n_layer": 12, "n_head": 12, "n_embd": 384}
_SCRIPT = Path(__file__).with_name("lens.py")


def compare_with_lens() -> None:
    """A bundled model, and a random one with the heads of GPT-2 small, half as wide."""
    with tempfile.TemporaryDirectory() as random:
        for name, times in REPETITIONS.items():
            folder = _bundled() if name == CAUSAL else _save_random(Path(random))
            _compare(name, folder, load(name if name == CAUSAL else str(folder)), times)


def _bundled() -> Path:
    spec = find(CAUSAL)
    if spec is None:
        raise AssertionError
    return bundled_folder(spec)


def _save_random(folder: Path) -> Path:
    """A network with GPT-2 small's layers and heads, random weights and the bundled vocabulary."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    for file in _bundled().glob("*.json"):
        shutil.copy(file, folder)
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(folder, **_RANDOM)
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)
    return folder


def _compare(name: str, folder: Path, model: LoadedModel, times: int) -> None:
    text = sentence_of(16)
    reference_samples(model)

    def ours(replace: Replace = "mean") -> NDArray[np.float64]:
        return effects(model, text, replace, "logit_difference", draws=0).values

    if PYTHON is None:
        show(f"{name}: all heads", by_turns(times, ours)[0], "ms")
        print("TransformerLens is not beside it: HEADSCOPE_TRANSFORMERLENS names no Python")
        return
    ids = as_input(model, text).ids
    with _lens(PYTHON, folder, model) as peer:
        for replace in ("zero", "mean"):
            theirs = _asked(peer, {"ids": ids, "replace": replace, "at_once": True})
            apart = float(np.abs(np.ravel(ours(replace)) - theirs).max())  # type: ignore[arg-type]
            show(f"{name}: apart at most, by {replace}", [apart], "logits", AGREES)
        each, once = (
            lambda at_once=at_once: _asked(
                peer, {"ids": ids, "replace": "mean", "at_once": at_once}
            )
            for at_once in (False, True)
        )
        own, in_turn, together = by_turns(times, ours, each, once)
    show(f"{name}: all heads", own, "ms")
    show(f"{name}: TransformerLens, a pass a head", in_turn, "ms")
    show(f"{name}: TransformerLens, in one batch", together, "ms")
    for way, other in (("a pass a head", in_turn), ("in one batch", together)):
        ratios = [mine / theirs for mine, theirs in zip(own, other, strict=True)]
        show(f"{name}: ours / {way}", ratios, "x")


@contextmanager
def _lens(python: str, folder: Path, model: LoadedModel) -> Iterator[subprocess.Popen[str]]:
    """The peer with that model, which has taken the means of the reference."""
    command = [python, str(_SCRIPT), str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=folder) as peer:
        texts = [as_input(model, text).ids for text in reference_texts()]
        _say(peer, {"reference": texts})
        yield peer
        if peer.stdin is not None:
            peer.stdin.close()


def _asked(peer: subprocess.Popen[str], asked: Asked) -> NDArray[np.float64]:
    return np.array(json.loads(_say(peer, asked)))


def _say(peer: subprocess.Popen[str], asked: Asked) -> str:
    """The line that answers a line."""
    if peer.stdin is None or peer.stdout is None:
        raise AssertionError
    peer.stdin.write(f"{json.dumps(asked)}\n")
    peer.stdin.flush()
    return peer.stdout.readline()
