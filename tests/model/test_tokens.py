"""What people read of a token: itself, also when it is no character at all."""

from __future__ import annotations

import pytest

from core.model import load, trace_text
from core.model.text.tokens import display_name, visible


@pytest.mark.parametrize(
    ("name", "byte_level", "shown"),
    [
        ("Ġbook", True, "book"),
        ("book", True, "book"),
        ("##bara", False, "##bara"),
        ("▁it", False, "it"),
        ("▁", False, "▁"),
        ("Ġ", True, "␣"),
        ("Ċ", True, "↵"),
        ("ĠĠ", True, "␣␣"),
        ("ð", True, "<0xF0>"),
        ("ðŁĺĢ", True, "😀"),
        ("Ġâ", True, "<0xE2>"),
        ("<|endoftext|>", True, "<|endoftext|>"),
        ("<b>", False, "<b>"),
        ("$x$", False, "$x$"),
        ("[CLS]", False, "[CLS]"),
    ],
)
def test_a_token_is_shown_as_itself(name: str, byte_level: bool, shown: str) -> None:
    assert display_name(name, byte_level) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "<U+202E>"),
        ("a\u202eb", "a<U+202E>b"),
        ("\u200b", "<U+200B>"),
        ("\u200d", "<U+200D>"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("مرحبا", "مرحبا"),
        ("\x07", "<U+0007>"),
    ],
)
def test_what_would_be_invisible_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_an_unknown_token_is_shown_as_it_was_typed() -> None:
    trace = trace_text(load("bundled/minilm"), "I 😀 you")
    unknown = next(token for token in trace.tokens if token.text == "[UNK]")
    assert unknown.display == "😀"
    assert not unknown.special
    assert trace.unknown_tokens == (unknown,)
    assert trace_text(load("bundled/minilm"), "I [UNK] you").unknown_tokens == ()


def test_a_special_token_that_was_typed_is_told_from_those_that_were_added() -> None:
    trace = trace_text(load("bundled/minilm"), "One [SEP] two [MASK]", "[CLS] three")
    typed = [(token.text, token.position, token.segment) for token in trace.typed_specials]
    assert typed == [("[SEP]", 2, 0), ("[CLS]", 6, 1)]
    special = [token.text for token in trace.tokens if token.special]
    assert special == ["[CLS]", "[SEP]", "[SEP]", "[CLS]", "[SEP]"]
    assert trace_text(load("bundled/minilm"), "One two.", "Three.").typed_specials == ()


def test_the_pieces_of_a_word_share_its_number() -> None:
    trace = trace_text(load("bundled/minilm"), "The capybara sleeps.")
    words = [(token.text, token.word) for token in trace.tokens]
    assert words[:6] == [
        ("[CLS]", -1),
        ("the", 0),
        ("cap", 1),
        ("##y", 1),
        ("##bara", 1),
        ("sleeps", 2),
    ]
