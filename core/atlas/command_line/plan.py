"""What a command is going to run: which sentences, in how much memory, and what identifies it."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from core.atlas.engine.build import Chunk, Row
from core.atlas.priority import take_within_budget
from core.corpus.files import Corpus
from core.corpus.reading import repeats_note
from core.model import LoadedModel, Trace, trace_by_length
from core.model.text.inputs import token_lengths

PART_TOKENS = 8_192
PART_BYTES = 128 * 2**20  # vectors per part, in memory until they are written
_TOGETHER = 256  # texts tokenized at once


@dataclass(frozen=True, eq=False)
class Plan:
    """The sentences of a corpus that will be run.

    Attributes
    ----------
    numbers, lengths : of these sentences, ascending, and their token counts, (sentence,).
    corpus_size : how many sentences the corpus has.
    digest : of all texts and labels.
    """

    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]
    corpus_size: int
    digest: str

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return int(self.lengths.sum())

    def rows(self, corpus: Corpus) -> Iterator[Row]:
        """The sentences, read again from the corpus."""
        numbered = zip(self.numbers.tolist(), self.lengths.tolist(), strict=True)
        number, tokens = next(numbered)
        for place, (text, label) in enumerate(corpus.sentences()):
            if place == number:
                yield Row(place, tokens, text, label)
                number, tokens = next(numbered, (-1, 0))


def plan_corpus(
    model: LoadedModel,
    corpus: Corpus,
    budget: int | None,
    say: Callable[[str], object],
) -> Plan:
    """Read a corpus once, and count its tokens and repeated texts; no text is kept.

    If it has more than `budget` tokens, a random sample of sentences is taken, the same whatever
    the order of reading. A text without tokens counts as one token.
    """
    digest, counts = hashlib.sha256(), [np.empty(0, dtype=np.int64)]
    hashes = array("q")  # of texts: eight bytes per text, however long
    sentences = corpus.sentences(say)
    while some := list(islice(sentences, _TOGETHER)):
        digest.update(json.dumps(some).encode("ascii"))
        hashes.extend(hash(each.text) for each in some)
        counts.append(np.array(token_lengths(model, [each.text for each in some], None)))
    for note in repeats_note(len(hashes) - np.unique(np.frombuffer(hashes, np.int64)).size):
        say(note)
    lengths = np.concatenate(counts).astype(np.int64)
    numbers = np.arange(lengths.size)
    if budget is not None:
        numbers = np.sort(take_within_budget(numbers, np.maximum(1, lengths), budget))
    return Plan(numbers, lengths[numbers], lengths.size, digest.hexdigest())


def part_tokens_of(model: LoadedModel) -> int:
    """The default number of tokens per part: it has to fit into memory."""
    return min(PART_TOKENS, max(1, PART_BYTES // vector_bytes(model)))


def vector_bytes(model: LoadedModel) -> int:
    """Bytes of all queries and keys of one token, as float32."""
    return 4 * model.layers * (model.heads + model.kv_heads) * model.dim


def fingerprint(model: LoadedModel, plan: Plan, **settings: str | float) -> dict[str, str | int]:
    """Everything that determines the bytes of the parts and of the atlas."""
    weights = hashlib.sha256()
    for name, weight in model.network.state_dict().items():
        weights.update(name.encode())
        weights.update(weight.cpu().contiguous().numpy().reshape(-1))
    chosen = hashlib.sha256(np.ascontiguousarray(plan.numbers).tobytes())
    return {
        "model": model.name,
        "weights": weights.hexdigest(),
        "corpus": f"{plan.digest} {chosen.hexdigest()}",
        **{name.replace("_", " "): str(value) for name, value in settings.items()},
        "device": model.device,
        "torch": version("torch"),
    }


def tracer_of(
    model: LoadedModel, batch_tokens: int
) -> Callable[[Chunk], Iterator[tuple[int, Trace]]]:
    """A tracer of a part's sentences, numbered, in batches of this many tokens."""

    def traces(chunk: Chunk) -> Iterator[tuple[int, Trace]]:
        texts, lengths = zip(*((row.text, row.tokens) for row in chunk.rows), strict=True)
        traced = trace_by_length(
            model, texts, batch_tokens=batch_tokens, lengths=lengths, whole=False
        )
        return ((chunk.rows[place].number, trace) for place, trace in traced)

    return traces
