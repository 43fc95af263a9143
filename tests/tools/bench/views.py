"""Head and model view of a bert-base-shaped model (12 layers x 12 heads), until they are painted.

From the press on the page's link in the menu to the frame that shows the picture, server and all.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import torch

from core.model.opening.catalog import bundled_folder
from core.model.opening.load import _quiet
from tests.tools.bench.app import follow, shared_app, visit_home
from tests.tools.bench.measuring import few, sentence_of

VISITS = few(3, 1)
LAYERS = HEADS = 12
SIZES = {"hidden_size": few(768, 96), "intermediate_size": 64}  # what no view draws
# As drawn, the scores would be so small that no line were strong enough to be drawn: longer
# queries make attention about as sharp as BERT's. The least has shorter vectors.
SHARPER = few(10.0, 80.0)
# Title, and what is in the document once the picture is painted.
VIEWS = {
    "model_view": ("Model view", ".st-key-model_view [role=grid] canvas.sheet"),
    "head_view": ("Head view", ".st-key-head_view canvas.sheet[data-drawn='12']"),
}
# View, tokens, seconds until it should be painted.
SHOWN = (("head_view", few(128, 16), 1.0), ("model_view", 64, 1.2), ("model_view", 128, 2.0))


@cache
def _model() -> Path:
    """A random BERT with the bundled model's tokenizer."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    network, folder = BertModel(BertConfig(**SIZES)), Path(tempfile.mkdtemp()) / "bert-base-shaped"
    with torch.no_grad():
        for layer in network.encoder.layer:
            layer.attention.self.query.weight *= SHARPER
    with _quiet():
        network.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(bundled_folder() / name, folder)
    return folder


def painted(view: str, tokens: int) -> list[float]:
    """Seconds of several visits, each by a new visitor."""
    title, drawn = VIEWS[view]
    every_head = ",".join(map(str, range(1, HEADS + 1)))
    state = {"layer": str(LAYERS), "heads": every_head, "text": sentence_of(tokens)}
    seconds = []
    for _ in range(VISITS):
        with visit_home(shared_app(), model=str(_model()), **state) as page:
            seconds.append(follow(page, title, drawn))
    return seconds
