"""The sample corpus: what it promises to hold, marks that are true, errors that name the line."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from core.analysis.sample_corpus import (
    PRONOUNS,
    SAMPLE,
    TOPICS,
    CorpusError,
    Mention,
    Sentence,
    read_corpus,
    read_sentence,
    sample_corpus,
    sample_sentences,
)

LINES = [
    line
    for line in SAMPLE.read_text("utf-8").splitlines()
    if line and not line.startswith(("#", "=="))
]
# Number as a reader knows it, for nouns of which the last letter does not tell.
PLURAL_WITHOUT_S = {"people", "children", "fishermen"}
SINGULAR_WITH_S = {
    "bus",
    "glass",
    "dress",
    "witness",
    "lioness",
    "Agnes",
    "Ines",
    "actress",
    "countess",
}
SINGULAR_WITH_S |= {"mayoress", "duchess", "heiress", "governess", "seamstress"}
# Gender as a reader knows it; most people of the corpus could be either.
WOMEN = """
    Clara Ruth Sofia Elena Nadia Ines Agnes Anna Marta Irina Lena Farrow aunt grandmother sister
    wife mother girl queen actress countess duchess heiress mayoress governess landlady
    postwoman heroine widow bride maid lioness mare
"""
MEN = """
    Tom Daniel Victor Peter Oskar Julian Leo Hugo Grandfather boy king lad uncle man father waiter
    postman fisherman ferryman bishop
"""
HERS = {"she", "her", "hers", "herself"}
HIS = {"he", "him", "his", "himself"}
THEIRS = {"they", "them", "their", "theirs", "themselves"}
MARKED = [(sentence, mention) for sentence in sample_corpus() for mention in sentence.mentions]


def words_of(text: str) -> list[str]:
    return re.findall(r"[\w'’.,:-]*\w", text)


def pronoun_and_antecedent(sentence: Sentence, mention: Mention) -> tuple[str, str]:
    start, end = mention.candidates[mention.antecedent]
    return sentence.text[slice(*mention.pronoun)].lower(), sentence.text[start:end]


def marked_line(sentence: Sentence) -> str:
    """The line of the file that says what the sentence says."""
    marks = {span: "[{}]" for mention in sentence.mentions for span in mention.candidates}
    for mention in sentence.mentions:
        _, antecedent = pronoun_and_antecedent(sentence, mention)
        marks[mention.pronoun] = "{{{}=" + antecedent + "}}"
    line, end = "", 0
    for start, stop in sorted(marks):
        line += sentence.text[end:start] + marks[start, stop].format(sentence.text[start:stop])
        end = stop
    return line + sentence.text[end:]


# What is in it ---------------------------------------------------------------------------------


def test_every_topic_has_forty_sentences_or_more() -> None:
    counts = Counter(sentence.topic for sentence in sample_corpus())
    assert set(counts) == set(TOPICS)
    assert min(counts.values()) >= 40
    assert sum(counts.values()) >= 320


def test_sentences_are_as_long_as_sentences_are() -> None:
    lengths = [len(words_of(text)) for text in sample_sentences()]
    assert min(lengths) == 6
    assert 25 < max(lengths) <= 30


def test_no_two_sentences_share_most_of_their_words() -> None:
    bags = [set(text.lower().split()) for text in sample_sentences()]
    alike = max(len(a & b) / len(a | b) for a, b in itertools.combinations(bags, 2))
    assert alike < 0.6


def test_sentences_end_as_sentences_do_and_close_their_quotation_marks() -> None:
    for text in sample_sentences():
        assert re.search(r"[.?!][\"”]?$", text), text
        assert text.count('"') % 2 == 0, text
        assert text.count("“") == text.count("”"), text
        assert "  " not in text
        assert not set("[]{}=") & set(text)


def test_topics_hold_what_they_are_called_for() -> None:
    by_topic = {
        topic: [sentence for sentence in sample_corpus() if sentence.topic == topic]
        for topic in TOPICS
    }
    assert all(sentence.mentions for sentence in by_topic["coreference"])
    assert all(sentence.text.endswith("?") for sentence in by_topic["questions"])
    assert sum(bool(re.search(r'["“]', each.text)) for each in by_topic["quotation"]) >= 40
    assert sum(bool(re.search(r"\d", each.text)) for each in by_topic["numbers"]) >= 30
    assert sum(each.text.count(",") >= 2 for each in by_topic["lists"]) >= 30


# Its marks -------------------------------------------------------------------------------------


def test_the_texts_are_the_lines_without_their_marks() -> None:
    bare = [re.sub(r"\{(\w+)=[^}]*\}", r"\1", line) for line in LINES]
    assert [line.replace("[", "").replace("]", "") for line in bare] == list(sample_sentences())


def test_every_mark_of_the_file_is_in_a_mention_and_nothing_else_is() -> None:
    """A noun behind every pronoun of its sentence would be lost here."""
    assert [marked_line(sentence) for sentence in sample_corpus()] == LINES


def test_many_pronouns_are_marked_and_most_do_not_mean_the_nearest_noun() -> None:
    assert sum(bool(sentence.mentions) for sentence in sample_corpus()) >= 120
    hard = sum(mention.nearest != mention.antecedent for _, mention in MARKED) / len(MARKED)
    first = sum(mention.antecedent == 0 for _, mention in MARKED) / len(MARKED)
    assert 0.4 < hard < 0.65
    assert 0.3 < first < 0.5  # nor is it always the subject
    assert sum(len(mention.candidates) > 2 for _, mention in MARKED) >= 80


def test_pronouns_are_of_all_kinds() -> None:
    pronouns = Counter(pronoun_and_antecedent(*marked)[0] for marked in MARKED)
    assert set(pronouns) <= PRONOUNS
    assert set(pronouns) >= {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their"}
    assert max(pronouns.values()) / len(MARKED) < 0.4


@pytest.mark.parametrize(
    ("sentence", "mention"), MARKED, ids=[f"{s.text[:40]}-{m.pronoun[0]}" for s, m in MARKED]
)
def test_a_pronoun_agrees_with_its_antecedent(sentence: Sentence, mention: Mention) -> None:
    pronoun, antecedent = pronoun_and_antecedent(sentence, mention)
    plural = antecedent.endswith("s") and antecedent not in SINGULAR_WITH_S
    assert (pronoun in THEIRS) == (plural or antecedent in PLURAL_WITHOUT_S)
    assert antecedent not in WOMEN.split() or pronoun in HERS
    assert antecedent not in MEN.split() or pronoun in HIS
    for start, end in (mention.pronoun, *mention.candidates):
        assert re.fullmatch(r"\w+", sentence.text[start:end])
        assert not (sentence.text[:start][-1:] + sentence.text[end:][:1]).isalnum()


def test_the_corpus_is_read_once() -> None:
    assert sample_corpus() is sample_corpus()
    assert sample_sentences() == tuple(sentence.text for sentence in sample_corpus())


# The notation ----------------------------------------------------------------------------------


def test_a_marked_sentence_is_read_to_the_character() -> None:
    line = "When the [boy]'s [dog] bit {him=boy}, {its=dog} [owner] laughed."
    assert read_sentence(line, "narrative") == Sentence(
        "When the boy's dog bit him, its owner laughed.",
        "narrative",
        (
            Mention((23, 26), ((9, 12), (15, 18)), 0),
            Mention((28, 31), ((9, 12), (15, 18)), 1),
        ),
    )


def test_a_noun_after_the_pronoun_is_a_candidate_only_where_the_antecedent_is_one() -> None:
    line = "When {he=Max} left, [Max] told the [cook] that {he=cook} should see the [doctor]."
    before, after = read_sentence(line, "lists").mentions
    assert before.candidates == ((14, 17), (27, 31), (55, 61))
    assert (before.antecedent, before.nearest) == (0, None)
    assert after.candidates == ((14, 17), (27, 31))
    assert (after.antecedent, after.nearest) == (1, 1)


def test_comments_and_empty_lines_say_nothing() -> None:
    source = "# by hand\n\n== lists\r\n  One, two, three.  \n# and\n== nesting\nYes."
    assert read_corpus(source) == (
        Sentence("One, two, three.", "lists"),
        Sentence("Yes.", "nesting"),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("== poetry", 'no topic is called "poetry"'),
        ("First.", "occurs twice"),
        ("The [cat met the [dog], and {it=dog} ran.", "belongs to no mark"),
        ("The cat] met the [dog] and [ox], and {it=dog} ran.", "belongs to no mark"),
        ("The cat is {it = cat.", "belongs to no mark"),
        ("Two is 1 = 1.", "belongs to no mark"),
        ("The [cat] met the [dog].", "no pronoun"),
        ("The [cat] met the [dog], and {it} ran.", "does not say what it refers to"),
        ("The [cat] met the [dog], and {it=} ran.", 'no noun "[]" is marked'),
        ("The [cat] met the [dog], and {it=fox} ran.", 'no noun "[fox]" is marked'),
        ("The [cat] met the [dog], and {it=Dog} ran.", 'no noun "[Dog]" is marked'),
        ("The [cat] met the [dog], and {this=dog} ran.", '"this" in "{this=dog}" is no pronoun'),
        ("The [cat] met the dog, and {it=cat} ran.", "no other candidate"),
        ("The [cat] ran to {its=cat} [dog].", "no other candidate"),
        ("The [big cat] met the [dog], and {it=dog} ran.", '"[big cat]" is not one word'),
        ("The [] met the [dog], and {it=dog} ran.", '"[]" is not one word'),
        ("The [cat] met the [cat], and {it=cat} ran.", '"[cat]" is marked twice'),
        ("The [cat]s met the [dog], and {it=dog} ran.", '"[cat]" must stand apart'),
        ("The tom-[cat] met the [dog], and {it=dog} ran.", '"[cat]" must stand apart'),
        ("The [cat][dog] ran because {it=dog} ran.", '"[cat]" must stand apart'),
        ("The [cat] met the [dog], and {it=dog}self ran.", '"{it=dog}" must stand apart'),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_reason(line: str, reason: str) -> None:
    with pytest.raises(CorpusError, match=r"sample\.txt, line 4: ") as caught:
        read_corpus(f"# notes\n== lists\nFirst.\n{line}\nLast.", "sample.txt")
    assert reason in str(caught.value)


def test_a_sentence_needs_a_topic() -> None:
    with pytest.raises(CorpusError, match="mine, line 2: a sentence before the first topic"):
        read_corpus("# notes\nFirst.", "mine")
