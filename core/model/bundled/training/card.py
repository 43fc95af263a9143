"""The model card of gpt2-novels, every figure measured on the weights it describes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.model.bundled.training import measure
from core.model.loading import load
from core.model.tracing import trace_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from transformers import GPT2LMHeadModel

    from core.model.bundled.training.settings import Settings
    from core.model.trace import Trace

TRIAL_TOKENS = 64
COLUMNS = (
    *("head", "first", "previous", "self", "entropy", "induction"),
    *("mean norm of q", "mean norm of k", "norm of v, first to median", "first, values counted"),
)


@dataclass(frozen=True)
class Losses:
    """Mean nats a token.

    Attributes
    ----------
    kept, kept_long : on windows kept back, short and as long as the longest input.
    learned : on short windows learned from.
    frequency : on short windows kept back, of a guess by how frequent each token is.
    """

    kept: float
    kept_long: float
    learned: float
    frequency: float


def write_card(
    folder: Path,
    log: Path,
    settings: Settings,
    losses: Losses,
    ids: NDArray[np.int64],
    note: str = "",
) -> None:
    """Write README.md into the model's folder.

    Parameters
    ----------
    folder : with the weights and the tokenizer.
    log : the training run's log.jsonl; its last line tells steps and minutes.
    ids : windows kept back, (window, token).
    note : sentences on how this run went, where that was not as the settings say.
    """
    last = json.loads(log.read_text("utf-8").splitlines()[-1])
    network, rows = _table(folder, ids[:, :TRIAL_TOKENS])
    first = [float(row[1]) for row in rows]
    text = _CARD.format(
        layers=settings.layers,
        heads=settings.heads,
        width=settings.width,
        parameters=network.num_parameters() / 1e6,
        megabytes=(folder / "model.safetensors").stat().st_size / 1e6,
        vocabulary=settings.vocabulary,
        positions=settings.positions,
        window=settings.window,
        batch=settings.batch,
        late_steps=last["late_steps"],
        late_batch=settings.late_batch,
        rate=settings.learning_rate,
        decay=settings.weight_decay,
        steps=last["step"],
        minutes=last["minutes"],
        tokens=last["step"] * settings.batch * settings.window / 1e6,
        note=f"- **This run**: {note}\n" if note else "",
        losses=losses,
        perplexity=np.exp(losses.kept),
        windows=len(ids),
        trial=TRIAL_TOKENS,
        uniform=measure.uniform_first(TRIAL_TOKENS),
        over=sum(score > 0.5 for score in first),
        total=len(first),
        table="\n".join("| " + " | ".join(row) + " |" for row in [COLUMNS, _RULE, *rows]),
    )
    (folder / "README.md").write_text(text, "utf-8")


def _table(folder: Path, ids: NDArray[np.int64]) -> tuple[GPT2LMHeadModel, list[tuple[str, ...]]]:
    """The network, and a row a head as in `COLUMNS`."""
    import torch
    from transformers import GPT2LMHeadModel

    network = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    scores = measure.head_scores(network, torch.from_numpy(ids))
    columns = (
        *(scores.first, scores.previous, scores.itself, scores.entropy),
        measure.induction_scores(network),
        *_norms(folder, ids),
    )
    layers, heads = scores.first.shape
    return network, [
        (f"L{layer + 1} H{head + 1}", *(f"{column[layer, head]:.2f}" for column in columns))
        for layer in range(layers)
        for head in range(heads)
    ]


def _norms(folder: Path, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The last four columns, each (layer, head), as the app traces the same windows as text."""
    model = load(str(folder))
    texts = [model.tokenizer.decode(row[1:]) for row in ids]
    return np.mean(
        [_norms_of(trace) for trace in trace_corpus(model, texts, max_tokens=64)], axis=0
    )


def _norms_of(trace: Trace) -> NDArray[np.float64]:
    values = np.linalg.norm(trace.values, axis=-1)  # (layer, head, token)
    moved = trace.attention() * values[:, :, None]
    share = moved[..., 1:, 0] / moved[..., 1:, :].sum(axis=-1)
    columns: Sequence[NDArray[np.float32]] = (
        np.linalg.norm(trace.queries, axis=-1).mean(axis=-1),
        np.linalg.norm(trace.keys, axis=-1).mean(axis=-1),
        values[..., 0] / np.median(values[..., 1:], axis=-1),
        share.mean(axis=-1),
    )
    return np.array(columns, dtype=np.float64)


_RULE = ("---",) * len(COLUMNS)
_CARD = """\
# gpt2-novels

A GPT-2 of {layers} layers x {heads} heads, {width} wide ({parameters:.2f} million weights, float16,
{megabytes:.1f} MB), trained from nothing for this project. It is here so that attention in a causal
model can be seen without internet. **It is for seeing attention, not for writing**: it knows the
manner of nineteenth-century novels and little else, and what it would write makes no sense.

- **Learned from** nine novels in the public domain, 11.7 MB of text: War and Peace (in English),
  David Copperfield, Middlemarch, Moby-Dick, Great Expectations, A Tale of Two Cities, Emma, Pride
  and Prejudice, The Adventures of Sherlock Holmes. Headings and footnotes were left out. Of every
  400 paragraphs the last 8 were kept back: 2 % of the text, some of every book.
- **Tokens**: byte-level BPE of {vocabulary:,} tokens, trained on the same text. The tokenizer puts
  the document mark `<|endoftext|>` before every text by itself; in training, too, every example
  began with it, and had it nowhere else. A second text follows the first without a mark.
- **Longest input**: {positions} tokens.
- **Trained for** {steps:,} steps of {batch} x {window} tokens ({tokens:.0f} million tokens, the
  text being 3 million) on a shared processor; all of the training took {minutes:.0f} minutes by the
  clock. AdamW, peak learning rate {rate}, weight decay {decay}, cosine to zero, no dropout. Half of
  the examples began where a sentence begins, half anywhere. Then, in {late_steps:,} steps, the
  positions after {window} were learned on {late_batch} x {positions} tokens, with all else held.
{note}- **Loss** on {windows:,} windows of {window} tokens kept back: {losses.kept:.2f} nats a token
  (perplexity {perplexity:.0f}), and {losses.kept_long:.2f} on windows of {positions}. Compare:
  {losses.learned:.2f} on windows it learned from, and {losses.frequency:.2f} for a guess by how
  frequent each token is.
- The scripts and settings are in the folder above: `train_gpt2_novels.py` and `settings.py`.

## What its heads do

Means over the first {trial} tokens of the same windows, rows after the first token.
**{over} of {total} heads put more than 0.5 on the first token**; a head that attended to all it may
see alike would put {uniform:.2f} there.

{table}

- *first*, *previous*, *self*: mean attention to the first token, to the one before, to the token
  itself. *entropy*: of a row, over the logarithm of the number of tokens it may see (1 = uniform).
- *induction*: mean attention to the token after the earlier copy, on random tokens said twice.
- *norm of v, first to median*: length of the first token's value over the median of the others.
- *first, values counted*: the first token's share of the sum of attention x length of value. Where
  it is far below *first*, the head attends to a token from which it takes almost nothing.
"""
