"""The sample corpus: what it promises to hold."""

from __future__ import annotations

import itertools
import re
from collections import Counter

from core.corpus.sample import sample_corpus, sample_sentences

TOPICS = {"coreference", "agreement", "quotation", "lists", "numbers", "questions"} | {
    *("nesting", "narrative")
}


def test_every_topic_has_forty_sentences_or_more() -> None:
    counts = Counter(sentence.label for sentence in sample_corpus())
    assert set(counts) == TOPICS
    assert min(counts.values()) >= 40
    assert sum(counts.values()) == 392


def test_sentences_are_of_usual_length_end_as_sentences_do_and_differ() -> None:
    for text in sample_sentences():
        assert 6 <= len(re.findall(r"[\w'’.,:-]*\w", text)) <= 30
        assert re.search(r"[.?!][\"”]?$", text), text
        assert text.count('"') % 2 == 0, text
        assert text.count("“") == text.count("”"), text
        assert "  " not in text
        assert not set("[]{}<>|=") & set(text)
    bags = [set(text.lower().split()) for text in sample_sentences()]
    assert max(len(a & b) / len(a | b) for a, b in itertools.combinations(bags, 2)) < 0.6


def test_topics_hold_what_they_are_called_for() -> None:
    by_topic = {
        topic: [sentence.text for sentence in sample_corpus() if sentence.label == topic]
        for topic in TOPICS
    }
    assert all(text.endswith("?") for text in by_topic["questions"])
    assert sum(bool(re.search(r'["“]', text)) for text in by_topic["quotation"]) >= 40
    assert sum(bool(re.search(r"\d", text)) for text in by_topic["numbers"]) >= 30
    assert sum(text.count(",") >= 2 for text in by_topic["lists"]) >= 30
