"""What an encoder-decoder writes in answer to a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MAX_ANSWER = 64  # tokens


def greedy_ids(
    language_model: PreTrainedModel, ids: list[int], max_tokens: int = MAX_ANSWER
) -> list[int]:
    """Ids of the answer to one text, of at most `max_tokens`, the decoder's start token first.

    Greedy: each token is the likeliest after those before it, so the answer is always the same.
    """
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
    answer: list[int] = written[0].tolist()
    return answer
