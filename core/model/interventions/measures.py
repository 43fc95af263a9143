"""What can be measured before and after a change of a model: words, sentence vector, class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel

Outcome = Literal["kl", "logit_difference", "loss", "sentence", "class"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
UNITS: dict[Outcome, str] = {
    "kl": "nats",
    "logit_difference": "logits",
    "loss": "nats",
    "sentence": "1 − cosine",
    "class": "logits",
}
_OF_TASK: dict[str | None, tuple[Outcome, ...]] = {
    "next": ("kl", "logit_difference", "loss"),
    "masked": ("kl", "logit_difference"),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement:
    """What was measured, and where.

    Attributes
    ----------
    measure, unit : what was measured, and in which unit.
    words : the two words whose logits are compared, or the model's likeliest class.
    position : of the token whose word is measured, from 0; None for other measures.
    is_masked : whether that token was hidden for this.
    """

    measure: Outcome
    unit: str
    words: tuple[str, ...] = ()
    position: int | None = None
    is_masked: bool = False


def measures_of(model: LoadedModel) -> tuple[Outcome, ...]:
    """What can be measured of this model, its default first."""
    if model.sees_images:
        return ("class",)
    if model.classifier is not None:
        return ("class", "sentence")
    if model.language_model is None or model.is_encoder_decoder:
        return ("sentence",)
    return (*_OF_TASK[model.task], "sentence")
