"""The check that lets every page say "this is the model's attention".

Attention is recomputed from what was recorded, and compared call by call with the weights and the
output of the model's own attention function. Two whole passes would drift apart in a deep model,
however right the rule is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.capture import IMPLEMENTATION, Recorder
from core.model.capture.forward import Way, run_batch
from core.model.checks.agreement import DiffersError
from core.model.checks.runs import Runs
from core.model.checks.texts import Text, chooses_keys, texts_for
from core.model.encoder_decoder.calls import Lengths
from core.model.errors import PICK_ANOTHER, UnsupportedModelError
from core.model.trace import AttentionType, Trace

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from core.model.capture.calls import Check


@dataclass(frozen=True)
class LoadCheck:
    """What the check found.

    Attributes
    ----------
    traces : of the short text, without its tokens, by kind of attention.
    order : the kind of each attention call of a pass.
    error : the largest difference of any attention weight.
    way : "fast" where PyTorch's attention gives the same as the model's own function.
    batches : a text in a padded batch is computed as if it were alone.
    pairs : a second text may be given.
    tokens : of the longest text that was run.
    outputs : names of the modules that are W_O, one per call (:mod:`core.model.capture.outputs`).
    """

    traces: dict[AttentionType, Trace]
    order: tuple[AttentionType, ...]
    error: float
    way: Way
    batches: bool
    pairs: bool
    tokens: int
    outputs: tuple[str, ...] | None


def probe(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> LoadCheck:
    """Run a short text, a long one and a pair, each alone and all as a padded batch.

    Raises
    ------
    UnsupportedModelError
        When nothing is recorded, or recomputed attention or its output differs from the model's own
        by more than numbers of its type round off in scores of that size.
    """
    asks = network.config._attn_implementation == IMPLEMENTATION  # noqa: SLF001 - it has no other name
    run = Runs(network, _Texts(network, tokenizer), "exact" if asks else "watched")
    texts = texts_for(network, tokenizer, max_tokens)
    try:
        alone = run.first(texts.short)
        if run.way == "exact" and (
            chooses_keys(network.config) or not run.is_left_alone(texts.long)
        ):
            run.watch()
            alone = run.traces([texts.short])
        alone += run.one_by_one(texts.all[1:])
        together = run.batch(texts.all, alone)
    except DiffersError as error:
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) recomputed from its queries"
            f" and keys differs from the model's own: {error}.",
        ) from error
    attention_types = tuple(dict.fromkeys(run.order))
    passes = [
        ([text], alone[index * len(attention_types) : (index + 1) * len(attention_types)])
        for index, text in enumerate(texts.all)
    ]
    if together:
        passes.append((texts.all, together))
    fast = run.way == "exact" and all(run.is_fast_the_same(*each) for each in passes)
    return LoadCheck(
        traces=dict(zip(attention_types, alone, strict=False)),  # the short text comes first
        order=run.order,
        error=run.error,
        way="fast" if fast else run.way,
        batches=bool(together),
        pairs=texts.pair is not None,
        tokens=max(len(text.ids) for text in texts.all),
        outputs=run.output_modules(texts.short),
    )


@dataclass(frozen=True)
class _Texts:
    """Texts, as :class:`core.model.checks.runs.Runs` wants them."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    misfit: str = (
        "attends to more or fewer tokens than the text has, so its maps would not fit the text."
    )
    failed: str = "cannot be run on a text alone; it may need images or sound"
    advice: str = PICK_ANOTHER

    def run(self, items: Sequence[Text], way: Way, check: Check | None) -> tuple[Recorder, object]:
        """Run them together."""
        targets = [text.target for text in items if text.target is not None]
        return run_batch(
            self.network,
            self.tokenizer,
            [text.ids for text in items],
            [text.segments for text in items],
            way=way,
            check=check,
            targets=targets or None,
        )

    def lengths(self, items: Sequence[Text]) -> Lengths:
        """Their tokens, and those of their targets."""
        targets = [len(text.target) for text in items if text.target is not None]
        return Lengths([len(text.ids) for text in items], targets or None)
