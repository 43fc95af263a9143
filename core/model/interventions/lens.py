"""The logit lens: what a model would say if nothing after a layer wrote (nostalgebraist 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from core.model.interventions.direct import followed_probe
from core.model.interventions.probe import Cut, run
from core.model.language import Guess, first_words, guesses_of
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel


@dataclass(frozen=True)
class Lens:
    """What a model would say after one of its layers.

    Attributes
    ----------
    guesses : the likeliest words, the likeliest first; entries that are not text are left out.
    kl : KL(whole model's prediction || prediction here), in nats.
    """

    guesses: tuple[Guess, ...]
    kl: float


@refusing_to("run")
def logit_lens(
    model: LoadedModel, text: str, count: int = 3, **cut: Unpack[Cut]
) -> tuple[Lens, ...]:
    """The words that the model would expect from its embeddings alone, and after each layer.

    All later heads and layers write nothing; where norms act on the residual stream itself, as in
    BERT, those of later layers stay. Read at the token whose word is measured, see
    :func:`core.model.effects`. Raises `UnsupportedModelError` for a model without a language-model
    head, and where what is written cannot be followed.
    """
    from core.model.interventions.stream import Stream

    probe = followed_probe(model, text, "logit_difference", **cut)
    run(probe)  # as in core.model.interventions.direct
    stream, log_probs = Stream(probe.network, frozen=False), []
    for last in range(-1, model.layers):
        stream.sounds = lambda *part, last=last: part[1] <= last
        (read,) = run(probe, stream=stream)
        log_probs.append(read.log_softmax(-1))
    whole = log_probs[-1]
    lenses = []
    for row in log_probs:
        order = row.argsort(descending=True).tolist()
        words = first_words(model.tokenizer, order, count, blanks=True)
        guesses = guesses_of(model.tokenizer, words, row[words].exp().tolist())
        lenses.append(Lens(guesses, max(0.0, float((whole.exp() * (whole - row)).sum()))))
    return tuple(lenses)
