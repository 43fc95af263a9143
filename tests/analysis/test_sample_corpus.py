"""The corpus that comes with the project: what it holds, and what its reader refuses."""

from __future__ import annotations

from collections import Counter

import pytest

from core.analysis.sample_corpus import read_corpus, sample_corpus, sample_sentences

PRONOUNS = {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their"}


def test_it_has_enough_sentences_of_every_topic() -> None:
    topics = Counter(sentence.topic for sentence in sample_corpus())
    assert set(topics) == {
        *("coreference", "agreement", "quotation", "lists", "numbers", "questions", "nesting"),
        "narrative",
    }
    assert min(topics.values()) >= 30
    assert topics.total() >= 300


def test_its_sentences_are_sentences() -> None:
    texts = sample_sentences()
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert 6 <= len(text.split()) <= 30, text
        assert text[-1] in '.?!"', text
        assert not set(text) & set("[]<>=#"), text


def test_its_marks_are_pronouns_and_nouns_that_stand_before_them() -> None:
    mentions = [(s, mention) for s in sample_corpus() for mention in s.mentions]
    assert len(mentions) >= 120
    for sentence, mention in mentions:
        assert sentence.text[slice(*mention.pronoun)].lower() in PRONOUNS
        assert mention.candidates[mention.antecedent] < mention.pronoun
        for span in (mention.pronoun, *mention.candidates):
            word = sentence.text[slice(*span)]
            assert word.isalpha()
            around = f" {sentence.text} "[span[0]], f" {sentence.text} "[span[1] + 1]
            assert not any(letter.isalpha() for letter in around), sentence.text


def test_the_nearest_noun_is_often_the_wrong_one() -> None:
    pairs = [m for s in sample_corpus() for m in s.mentions if len(m.candidates) > 1]
    nearest = sum(
        max(c for c in m.candidates if c < m.pronoun) == m.candidates[m.antecedent] for m in pairs
    )
    assert 0.25 < 1 - nearest / len(pairs) < 0.6


def test_a_line_is_read_as_the_notation_says() -> None:
    (plain, marked) = read_corpus(
        "# a remark\n\n== first\nNo marks here.\n"
        "== second\nThe [dog=1] saw [Eve=2], and <she=2> fed <it=1>.\n"
    )
    assert (plain.topic, plain.text, plain.mentions) == ("first", "No marks here.", ())
    assert marked.topic == "second"
    assert marked.text == "The dog saw Eve, and she fed it."
    she, it = marked.mentions
    assert [marked.text[slice(*span)] for span in she.candidates] == ["dog", "Eve"]
    assert (marked.text[slice(*she.pronoun)], she.antecedent) == ("she", 1)
    assert (marked.text[slice(*it.pronoun)], it.antecedent) == ("it", 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("The [dog=1] barked at <it=2>.", "no noun has the number 2"),
        ("When <it=1> barked, the [dog=1] ran.", "before its noun"),
        ("The [dog=1] and the [cat=1] ran.", "two nouns"),
        ("The [dog=1 ran to <it=1>.", "not whole"),
        ("The dog=1 ran.", "not whole"),
        ("The first stands here twice.", "twice"),
    ],
)
def test_a_faulty_line_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"line 3: .*{message}"):
        read_corpus(f"== topic\nThe first stands here twice.\n{line}\n")


def test_a_sentence_needs_a_topic() -> None:
    with pytest.raises(ValueError, match="line 1: a sentence before the first topic"):
        read_corpus("Where am I?")
