"""Which attention calls of an encoder-decoder are its encoder's, its decoder's, and between both.

A decoder's query tokens attend to one another and, in cross attention, to the encoder's tokens.
Which call is which shows in the lengths of a source and a target that differ; the order of calls
never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.model.capture import Call
from core.model.trace import AttentionType


@dataclass(frozen=True)
class Lengths:
    """Tokens of each text in a batch, and of what a decoder reads with it, if there is one."""

    sources: Sequence[int]
    targets: Sequence[int] | None = None

    def type_of(self, call: Call) -> AttentionType | None:
        """The kind of a call; None if it attends to anything but the tokens of the texts.

        The longest source and the longest target must differ.
        """
        source = max(self.sources)
        if self.targets is None:
            attention_types: dict[tuple[int, int], AttentionType] = {(source, source): "self"}
        else:
            target = max(self.targets)
            attention_types = {
                (source, source): "encoder",
                (target, target): "decoder",
                (target, source): "cross",
            }
        return attention_types.get((call.query.shape[2], call.key.shape[2]))

    def of_text(self, row: int, attention_type: AttentionType) -> tuple[int, int]:
        """The query tokens and the key tokens of a text, without padding."""
        targets = self.sources if self.targets is None else self.targets
        attending = self.sources if attention_type == "encoder" else targets
        attended = targets if attention_type == "decoder" else self.sources
        return attending[row], attended[row]


def of_type(
    calls: Sequence[Call], order: Sequence[AttentionType], attention_type: AttentionType
) -> list[Call]:
    """The calls of one kind, layer by layer."""
    return [call for call, each in zip(calls, order, strict=True) if each == attention_type]
