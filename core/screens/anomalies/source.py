"""What the anomaly table covers: the typed text, or the sample corpus with a progress bar."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.analysis.anomalies import corpus_table, measure_heads
from core.analysis.corpus.sample import sample_sentences
from core.model.weights import output_projection
from core.ui import cache
from core.ui.corpus_walk import measured_once, show_cancelled, walk_corpus

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies.flags import Measures
    from core.model import Trace
    from core.ui.cache import TraceKey

NAME = "anomalies"


def measured_table(key: TraceKey, source: str) -> pd.DataFrame:
    """The anomaly table; `attrs["where"]` says in words what it covers."""
    sentences = sample_sentences()
    if source == "text":
        show_cancelled(NAME, key[0], len(sentences))
        return cache.anomalies(key)
    return measured_once(NAME, key[0], sentences, lambda: _measure(key[0], sentences))


@dataclass
class _Gathered:
    """The measures of each sentence by its index, and the separators of all."""

    texts: dict[int, Measures] = field(default_factory=dict)
    separators: set[str] = field(default_factory=set)
    numbers: tuple[int, ...] = ()  # of the layers


def _measure(model_name: str, sentences: tuple[str, ...]) -> pd.DataFrame:
    model = cache.model(model_name)
    similarity = cache.weight_similarity(model_name)
    grams = output_projection.value_grams(model)

    def take(gathered: _Gathered, index: int, trace: Trace) -> None:
        norms = output_projection.transformed_norms(model, trace, grams)
        gathered.texts[index] = measure_heads(trace, norms, similarity)
        gathered.numbers = trace.numbers
        gathered.separators.update(token.display for token in trace.tokens[1:] if token.special)

    gathered = walk_corpus(NAME, model_name, sentences, _Gathered, take)
    texts = [gathered.texts[index] for index in sorted(gathered.texts)]
    table = corpus_table(
        texts, gathered.numbers, exact=grams is not None, separators=gathered.separators
    )
    tokens = int(sum(text["tokens"].flat[0] for text in texts))
    table.attrs["where"] = f"the sample corpus ({len(texts)} sentences, {tokens:,} tokens)"
    return table
