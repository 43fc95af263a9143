"""The model's own eager attention, from a second instance that this project did not touch."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoModel, AutoTokenizer

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np


class Eager:
    """A saved model and its tokenizer as transformers loads them."""

    def __init__(self, folder: Path) -> None:
        network = AutoModel.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        )
        self._network = network.eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)

    def run(self, limit: int, text: str, pair: str | None = None) -> Any:
        """The network's output for one text, cut at `limit` tokens, or for a pair."""
        inputs = self._tokenizer(text, pair, truncation=True, max_length=limit, return_tensors="pt")
        accepted = inspect.signature(self._network.forward).parameters
        inputs = {name: value for name, value in inputs.items() if name in accepted}
        if self._network.config.is_encoder_decoder:
            inputs["decoder_input_ids"] = inputs["input_ids"]
        with torch.no_grad():
            return self._network(**inputs, output_attentions=True)

    def attention(self, limit: int, text: str, pair: str | None = None) -> list[np.ndarray]:
        """Attention of every layer that attends, (head, token, token) each."""
        output = self.run(limit, text, pair)
        return [layer[0].float().numpy() for layer in output.attentions if layer is not None]
