"""The tables of head patterns and of anomalies: for one sentence, and for the sample corpus."""

from __future__ import annotations

import time

from core.analysis.anomalies import anomaly_table, corpus_table, measure_heads
from core.analysis.corpus.sample import sample_sentences
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import induction_scores
from core.analysis.head_patterns.measure import measure_text
from core.analysis.head_patterns.similarity import MAX_LOGARITHMS, add_distances, compare_heads
from core.model import DEFAULT_MODEL, load, trace_by_length, trace_repeated, trace_text
from core.model.weights.output_projection import transformed_norms, value_grams
from core.model.weights.query_key import weight_similarity
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.timing import by_turns

SENTENCE_LIMIT_S = 0.3  # both tables, once the text has been run
CORPUS_LIMIT_S = 20.0


def run() -> None:
    """Both tables of sentences of two lengths; then of the corpus, the forward passes included."""
    model = load(DEFAULT_MODEL)
    induction, similarity = induction_scores(trace_repeated(model)), weight_similarity(model)
    lengths = ((13, SENTENCE_LIMIT_S), (512, None))
    for tokens, limit in few(lengths, lengths[:1]):
        trace = trace_text(model, sentence_of(tokens))
        norms = transformed_norms(model, trace)
        patterns, anomalies = by_turns(
            few(5, 1),
            lambda trace=trace: pattern_table(trace, induction=induction),  # type: ignore[misc]
            lambda trace=trace, norms=norms: anomaly_table(trace, norms, similarity),  # type: ignore[misc]
        )
        both = [(one + other) / 1e3 for one, other in zip(patterns, anomalies, strict=True)]
        show(f"{tokens} tokens: patterns", [each / 1e3 for each in patterns], "s")
        show(f"{tokens} tokens: anomalies", [each / 1e3 for each in anomalies], "s")
        show(f"{tokens} tokens: both tables", both, "s", limit)
    _show_corpus()


def _show_corpus() -> None:
    model, sentences = load(DEFAULT_MODEL), sample_sentences()[: few(None, 16)]
    similarity = weight_similarity(model)
    start = time.perf_counter()
    measured, distances = [], None
    for _, trace in trace_by_length(model, sentences):
        measured.append(measure_text(trace))
        one = compare_heads(trace, MAX_LOGARITHMS // len(sentences))
        distances = one if distances is None else add_distances([distances, one])
    pattern_table(measured)
    patterns = time.perf_counter() - start
    start = time.perf_counter()
    grams = value_grams(model)
    texts = [
        measure_heads(trace, transformed_norms(model, trace, grams), similarity)
        for _, trace in trace_by_length(model, sentences)
    ]
    corpus_table(texts, range(1, model.layers + 1), exact=True)
    anomalies = time.perf_counter() - start
    name = f"{len(sentences)} sentences"
    show(f"{name}: patterns, likeness, intervals", [patterns], "s", CORPUS_LIMIT_S)
    show(f"{name}: anomalies", [anomalies], "s", CORPUS_LIMIT_S)
