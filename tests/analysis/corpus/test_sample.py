"""The sample corpus: what it promises to hold, marks that are true, errors that name the line."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from core.analysis.corpus.sample import (
    PAIR_TOPICS,
    PAIRS,
    SAMPLE,
    TOPICS,
    CorpusError,
    Mention,
    Sentence,
    marked_sets,
    pronoun_pairs,
    read_corpus,
    read_pair,
    read_sentence,
    sample_corpus,
    sample_sentences,
)
from core.analysis.english import PRONOUNS

LINES = [
    line
    for line in SAMPLE.read_text("utf-8").splitlines()
    if line and not line.startswith(("#", "=="))
]
# Number as a reader knows it, for nouns of which the last letter does not tell.
PLURAL_WITHOUT_S = {"people", "children", "fishermen"}
SINGULAR_WITH_S = {"bus", "glass", "dress", "witness", "lioness", "Agnes", "Ines", "actress"} | {
    *("countess", "mayoress", "duchess", "heiress", "governess", "seamstress")
}
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


def test_every_topic_has_forty_sentences_or_more() -> None:
    counts = Counter(sentence.topic for sentence in sample_corpus())
    assert set(counts) == set(TOPICS)
    assert min(counts.values()) >= 40
    assert sum(counts.values()) >= 320


@pytest.mark.parametrize(
    "texts", [sample_sentences(), [half.text for half in pronoun_pairs()[::2]]]
)
def test_sentences_are_of_usual_length_end_as_sentences_do_and_differ(texts: list[str]) -> None:
    for text in texts:
        assert 6 <= len(words_of(text)) <= 30
        assert re.search(r"[.?!][\"”]?$", text), text
        assert text.count('"') % 2 == 0, text
        assert text.count("“") == text.count("”"), text
        assert "  " not in text
        assert not set("[]{}<>|=") & set(text)
    bags = [set(text.lower().split()) for text in texts]
    assert max(len(a & b) / len(a | b) for a, b in itertools.combinations(bags, 2)) < 0.6


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
    assert set(pronouns) <= set(PRONOUNS)
    assert set(pronouns) >= {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their"}
    assert max(pronouns.values()) / len(MARKED) < 0.4


def test_pronouns_agree_with_their_antecedents() -> None:
    for sentence, mention in MARKED:
        pronoun, antecedent = pronoun_and_antecedent(sentence, mention)
        plural = antecedent.endswith("s") and antecedent not in SINGULAR_WITH_S
        assert (pronoun in THEIRS) == (plural or antecedent in PLURAL_WITHOUT_S), sentence.text
        assert antecedent not in WOMEN.split() or pronoun in HERS, sentence.text
        assert antecedent not in MEN.split() or pronoun in HIS, sentence.text


HALVES = pronoun_pairs()
BY_PAIR = list(zip(HALVES[::2], HALVES[1::2], strict=True))
# As a reader knows them, for nouns of the pairs that say their gender, or not their number.
PAIR_WOMEN = """
    Clara Elena Ruth Nadia Ines Agnes Anna Lena Marta Irina Sofia Greta Julia Paula Olga Vera Hanna
    Lisa Karin Doris Monika Sabine Eva Carla Nina Tina Frieda Helga aunt sister queen maid mother
    girl witch princess duchess grandmother actress hostess widow countess landlady
"""
PAIR_MEN = """
    Victor Daniel Peter Oskar Tom Hugo Leo Julian Anton Felix Martin Simon Robert Kurt Karl Emil
    Arthur Henry Philip Edgar Gustav Max Ludwig Franz Erik Albert Bruno Jakob Stefan Ralf Boris
    Kaspar Anselm Otto Willi father boy king jester uncle nephew monk thief emperor grandson
    grandfather dwarf giant priest miner
"""
PLURALS = {"sheep", "geese", "firemen"}
SINGULARS = {"princess", "countess", "duchess", "hostess", "actress", "bus"}


def noun(sentence: Sentence, number: int) -> str:
    return sentence.text[slice(*sentence.mentions[0].candidates[number])]


def test_there_are_two_hundred_pronouns_more_each_in_a_sentence_of_its_own() -> None:
    assert len(HALVES) >= 200
    assert all(len(half.mentions) == 1 for half in HALVES)
    assert len({half.text for half in HALVES} | set(sample_sentences())) == len(HALVES) + len(
        sample_sentences()
    )
    counts = Counter(half.text[slice(*half.mentions[0].pronoun)].lower() for half in HALVES)
    assert set(counts) == set(PAIR_TOPICS)
    assert min(counts.values()) >= 20


def test_the_halves_of_a_pair_differ_in_one_word_and_in_the_noun_that_is_right() -> None:
    for number, (one, other) in enumerate(BY_PAIR):
        assert one.pair == other.pair == number
        words, others = one.text.split(), other.text.split()
        assert len(words) == len(others)
        differing = [a.strip(".,") for a, b in zip(words, others, strict=True) if a != b]
        assert differing == [one.text[slice(*one.decided_by)]]  # type: ignore[misc]
        assert {one.mentions[0].antecedent, other.mentions[0].antecedent} == {0, 1}
        assert [noun(one, 0), noun(one, 1)] == [noun(other, 0), noun(other, 1)]


@pytest.mark.parametrize("kind", PAIR_TOPICS)
def test_neither_the_first_nor_the_nearest_noun_wins_by_position(kind: str) -> None:
    mentions = [half.mentions[0] for half in HALVES if half.topic == kind]
    assert {len(mention.candidates) for mention in mentions} == {2}
    for rule in ("first", "nearest"):
        right = [getattr(mention, rule) == mention.antecedent for mention in mentions]
        assert sum(right) * 2 == len(right)


def test_the_marks_of_gender_and_number_are_true() -> None:
    for half in HALVES:
        (kind, _) = half.mentions[0].kinds
        for number in (0, 1):
            word = noun(half, number)
            assert (word in PAIR_WOMEN.split()) == (kind == "female"), word
            assert (word in PAIR_MEN.split()) == (kind == "male") or kind == "person", word
            plural = word in PLURALS or (word.endswith("s") and word not in SINGULARS)
            if word[0].islower():
                assert plural == (kind in {"people", "things", "animals"}), word


def test_a_third_of_the_pairs_can_be_decided_from_left_to_right() -> None:
    early = sum(half.decided_by < half.mentions[0].pronoun for half in HALVES)  # type: ignore[operator]
    assert 0.3 < early / len(HALVES) < 0.7


def test_the_pairs_are_a_set_of_their_own_and_no_part_of_what_heads_are_measured_on() -> None:
    sets = marked_sets()
    assert list(sets) == ["pairs", "sample"]
    assert sets["pairs"] == HALVES
    assert all(sentence.mentions and sentence.pair is None for sentence in sets["sample"])
    assert not {half.text for half in HALVES} & set(sample_sentences())
    lines = [line for line in PAIRS.read_text("utf-8").splitlines() if "{" in line]
    assert len(lines) - 1 == len(BY_PAIR)  # and the line that explains the mark


def test_a_line_of_the_pairs_is_two_sentences() -> None:
    one, other = read_pair("The [cat:animal] <bit|fed> [Rex:animal]; {it=cat|Rex} ran.", "it", 3)
    spans, kinds = ((4, 7), (12, 15)), ("animal", "animal")
    assert one == Sentence(
        "The cat bit Rex; it ran.", "it", (Mention((17, 19), spans, 0, kinds),), 3, (8, 11)
    )
    assert other == Sentence(
        "The cat fed Rex; it ran.", "it", (Mention((17, 19), spans, 1, kinds),), 3, (8, 11)
    )


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
        ("== poetry", '"poetry" is not one of'),
        ("First.", "occurs twice"),
        ("The [cat met the [dog], and {it=dog} ran.", "cannot be read"),
        ("Two is 1 = 1.", "cannot be read"),
        ("The [cat] met the [dog].", "no pronoun"),
        ("The [cat] met the [dog], and {it} ran.", "cannot be read"),
        ("The [cat] met the [dog], and {it=Dog} ran.", 'no noun "[Dog]" is marked'),
        ("The [cat] met the [dog], and {this=dog} ran.", "cannot be read"),
        ("The [cat] met the dog, and {it=cat} ran.", "no other candidate"),
        ("The [cat] ran to {its=cat} [dog].", "no other candidate"),
        ("The [big cat] met the [dog], and {it=dog} ran.", "cannot be read"),
        ("The [cat] met the [cat], and {it=cat} ran.", '"[cat]" is marked twice'),
        ("The [cat]s met the [dog], and {it=dog} ran.", "cannot be read"),
        ("The tom-[cat] met the [dog], and {it=dog} ran.", "cannot be read"),
        ("The [cat:cow] met the [dog], and {it=dog} ran.", "cannot be read"),
        ("The [cat:animal] met the [dog], and {it=dog} ran.", 'for "it" are not all marked'),
        ("The [boys:people] met [Tom:male], and {he=Tom} ran.", 'for "he" are not all marked'),
        ("The [cat:animal] met the [dog:animal], and {he=dog} ran.", '"he" does not agree with'),
        ("The [cat] met the [dog], and {it=cat|dog} <ran|hid> <fast|well>.", "needs one place"),
        ("The [cat] met the [dog], and {it=cat|dog} <ran off|hid>.", "needs one place"),
        ("The [cat] met the [dog], and {it=cat|dog} <hid|hid>.", "needs one place"),
        ("The [cat] met the [dog], and {it=cat} <ran|hid>.", "must give a pronoun another noun"),
        ("The [cat] met the [dog], and {it=cat|dog} ran.", "cannot be read"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_reason(line: str, reason: str) -> None:
    with pytest.raises(CorpusError, match=r"sample\.txt, line 4: ") as caught:
        read_corpus(f"# notes\n== lists\nFirst.\n{line}\nLast.", "sample.txt")
    assert reason in str(caught.value)


def test_a_sentence_needs_a_topic() -> None:
    with pytest.raises(CorpusError, match="mine, line 2: a sentence before the first topic"):
        read_corpus("# notes\nFirst.", "mine")
