"""The model's own eager attention, from a second instance that this project did not touch."""

from __future__ import annotations

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel, AutoTokenizer, PreTrainedModel

_TEXT_PARTS = ("text_model", "text_encoder", "language_model")  # of networks that also read images


class Oracle:
    """A saved model and its tokenizer as transformers loads them, in float32, on the processor."""

    def __init__(self, folder: Path) -> None:
        network = AutoModel.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        )
        self.network = network.eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def attention(self, text: str, pair: str | None = None) -> np.ndarray:
        """Attention of one text, (layer, head, token, token), by ids straight from the file."""
        return self.attention_of(self.inputs(text, pair))

    def attention_of(self, inputs: dict[str, torch.Tensor]) -> np.ndarray:
        """The same of prepared inputs."""
        with torch.no_grad():
            outputs = self.network(**inputs, output_attentions=True)
        return torch.cat(outputs.attentions).numpy()

    def inputs(self, text: str, pair: str | None = None) -> dict[str, torch.Tensor]:
        """One unpadded row for the network, with segment ids where it reads them."""
        encoding = self.tokenizer.encode(text, pair)
        inputs = {"input_ids": torch.tensor([encoding.ids])}
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if getattr(self.network.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
        return inputs

    def layers(
        self,
        limit: int,
        text: str,
        pair: str | None = None,
        kind: str = "self",
        target: list[int] | None = None,
    ) -> list[np.ndarray]:
        """Attention of every layer that attends, (head, token, token) each; maybe of none.

        Some networks return their scores instead (SqueezeBERT), others also the state of layers
        that do not attend (MiniMax). Of an encoder-decoder, that of a `kind`, with the ids of a
        `target` for its decoder.
        """
        output = self._run(self._reader, limit, text, pair, target)
        if kind != "self":
            return [each[0].float().numpy() for each in output[f"{kind}_attentions"]]
        layers = [each[0].float() for each in output.attentions if each is not None]
        square = [each for each in layers if each.shape[1] == each.shape[2]]
        attending = [each for each in square if each.min() >= 0]
        return [each.numpy() for each in attending or [each.softmax(-1) for each in square]]

    def hidden_states(self, limit: int, text: str, pair: str | None = None) -> list[np.ndarray]:
        """What each layer received and the last one returned, (token, width) each."""
        output = self._run(self._reader, limit, text, pair)
        return [each[0].float().numpy() for each in output.hidden_states or ()]

    @cached_property
    def _reader(self) -> PreTrainedModel:
        """The network, or its part for text if the whole wants an image or hides its attention."""
        try:
            whole = self._run(self.network, 8, "text")
            if self.network.config.is_encoder_decoder:
                return self.network
        except Exception:  # noqa: BLE001 - whatever it misses without an image
            whole = None
        if getattr(whole, "attentions", None) is None:
            settings = getattr(self.network.config, "text_config", None)
            for name in _TEXT_PARTS:
                part = getattr(self.network, name, None)
                if part is not None and type(part.config) is type(settings):
                    return part  # type: ignore[no-any-return]
        return self.network

    def _run(
        self,
        network: PreTrainedModel,
        limit: int,
        text: str,
        pair: str | None = None,
        target: list[int] | None = None,
    ) -> Any:
        inputs = self._tokenizer(text, pair, truncation=True, max_length=limit, return_tensors="pt")
        accepted = inspect.signature(network.forward).parameters
        inputs = {name: value for name, value in inputs.items() if name in accepted}
        if network.config.is_encoder_decoder:
            given = inputs["input_ids"] if target is None else torch.tensor([target])
            # With a cache, FSMT lets its decoder see what comes later.
            inputs |= {"decoder_input_ids": given, "use_cache": False}
        with torch.no_grad():
            return network(**inputs, output_attentions=True, output_hidden_states=True)
