"""The logit lens: what a model would say if nothing after a layer wrote (nostalgebraist 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.interventions.direct import followed_probe
from core.model.interventions.measures import measures_of
from core.model.interventions.probe import run
from core.model.language import Guess, first_words, guesses_of
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel


@dataclass(frozen=True)
class Lens:
    """What a model would say after one of its layers.

    Attributes
    ----------
    guesses : the likeliest words, the likeliest first.
    passed_over : how many entries likelier than the last guess are not text.
    probability : of the word that the whole model finds likeliest.
    kl : KL(whole model's prediction || prediction here), in nats.
    """

    guesses: tuple[Guess, ...]
    passed_over: int
    probability: float
    kl: float


@refusing_to("run")
def logit_lens(
    model: LoadedModel,
    text: str,
    count: int = 3,
    *,
    pair: str | None = None,
    max_tokens: int | None = None,
) -> tuple[Lens, ...] | None:
    """The words that the model would expect from its embeddings alone, and after each layer.

    All later heads and layers write nothing; where norms act on the residual stream itself, as in
    BERT, those of later layers stay. Read at the token whose word is measured, see
    :func:`core.model.effects`. None for a model without a language-model head. Raises
    `UnsupportedModelError` where what is written cannot be followed.
    """
    from core.model.interventions.stream import TruncateAfter

    if "logit_difference" not in measures_of(model):
        return None
    probe = followed_probe(model, text, "logit_difference", pair=pair, max_tokens=max_tokens)
    run(probe)  # as in core.model.interventions.direct
    log_probs = []
    for last in range(-1, model.layers):
        (read,) = run(probe, follower=TruncateAfter(probe.network, model.network, last))
        log_probs.append(read.log_softmax(-1))
    whole = log_probs[-1]
    best = int(whole.argmax())
    lenses = []
    for row in log_probs:
        order = row.argsort(descending=True).tolist()
        words, passed_over = first_words(model.tokenizer, order, count, blanks=True)
        lenses.append(
            Lens(
                guesses_of(model.tokenizer, words, row[words].exp().tolist()),
                passed_over,
                float(row[best].exp()),
                max(0.0, float((whole.exp() * (whole - row)).sum())),
            )
        )
    return tuple(lenses)
