"""What an encoder-decoder writes in answer to a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.checks.vocabulary import check_ids
from core.model.language.guesses import language_model_for
from core.model.refusal import refusing_to
from core.model.tracing import encode

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from core.model.loaded import LoadedModel


@refusing_to("run")
def answer(model: LoadedModel, text: str, max_tokens: int = 64) -> tuple[int, ...]:
    """Ids of the answer, of at most so many tokens, the decoder's start token first.

    Greedy: each token is the likeliest after those before it, so the answer is always the same.

    Raises
    ------
    UnsupportedModelError
        When the model has no language-model head for answers.
    """
    language_model = language_model_for(model, "answer")
    item = encode(model, text, None, None)
    check_ids(model.network, item.ids)
    return greedy_ids(language_model, item.ids, max_tokens)


def greedy_ids(language_model: PreTrainedModel, ids: list[int], max_tokens: int) -> tuple[int, ...]:
    """Ids of a greedy answer to one text, of at most `max_tokens`, the start token first."""
    import torch

    given = torch.tensor([ids], device=language_model.device)
    with torch.inference_mode():
        written = language_model.generate(  # type: ignore[operator]
            given,
            attention_mask=torch.ones_like(given),
            max_length=max_tokens,
            do_sample=False,
            num_beams=1,
            use_cache=True,
        )
    return tuple(written[0].tolist())
