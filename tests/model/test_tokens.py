"""What people read of a token: itself, also when it is no character at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from core.analysis.attention_table import word_groups
from core.model import trace_text
from core.model.text.tokens import Spelling, display_name, read_tokens, visible
from core.vocabulary import join_pieces
from tests.model.bundled import loaded
from tests.model.families import byte_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.model.trace import Token


@pytest.mark.parametrize(
    ("name", "byte_level", "shown"),
    [
        ("Ġbook", True, "book"),
        ("##bara", False, "##bara"),
        ("▁it", False, "it"),
        ("Ġ", True, "␣"),
        ("Ċ", True, "↵"),
        ("ð", True, "<0xF0>"),
        ("ðŁĺĢ", True, "😀"),
        ("Ġâ", True, "<0xE2>"),
        ("<|endoftext|>", True, "<|endoftext|>"),
        ("$x$", False, "$x$"),
        ("[CLS]", False, "[CLS]"),
    ],
)
def test_a_token_is_shown_as_itself(name: str, byte_level: bool, shown: str) -> None:
    assert display_name(name, Spelling(byte_level)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a<U+202E>b"),
        ("\u200b", "<U+200B>"),
        ("so\u00adfa", "so<U+00AD>fa"),
        ("\u3164", "<U+3164>"),
        ("\u0308", "◌\u0308"),
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


def test_special_tokens_that_were_typed_and_the_pieces_of_a_word_are_told() -> None:
    trace = trace_text(loaded("bundled/minilm"), "One [SEP] capybara [MASK]", "[CLS] three")
    typed = [(token.text, token.position, token.segment) for token in trace.typed_specials]
    assert typed == [("[SEP]", 2, 0), ("[CLS]", 8, 1)]
    special = [token.text for token in trace.tokens if token.special]
    assert special == ["[CLS]", "[SEP]", "[SEP]", "[CLS]", "[SEP]"]
    assert trace_text(loaded("bundled/minilm"), "One two.", "Three.").typed_specials == ()
    words = [(token.text, token.word) for token in trace.tokens if not token.special]
    assert words[:4] == [("one", 0), ("cap", 2), ("##y", 2), ("##bara", 2)]
    assert trace.tokens[0].word == -1


def falling_back_to_bytes() -> PreTrainedTokenizerFast:
    """Llama's kind: a character that is no entry becomes its bytes, each of them a token."""
    entries = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁catsonx"]
    ids = {entry: id_ for id_, entry in enumerate(entries)}
    core = Tokenizer(models.BPE(ids, [], unk_token="<unk>", byte_fallback=True))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>")


def tokens_of(tokenizer: PreTrainedTokenizerFast, text: str) -> tuple[Token, ...]:
    encoding = tokenizer(text).encodings[0]
    tokens = read_tokens(tokenizer, encoding, text, None)
    assert [token.text for token in tokens] == tokenizer.convert_ids_to_tokens(encoding.ids)
    return tokens


def shown(tokens: tuple[Token, ...]) -> list[str]:
    return [token.display.replace("\u00a0", " ").replace("\u200e", "") for token in tokens]


def merged(tokens: tuple[Token, ...]) -> list[str]:
    return [join_pieces([tokens[i] for i in group]) for group in word_groups(tokens)]


@pytest.mark.parametrize("make", [byte_level, falling_back_to_bytes])
@pytest.mark.parametrize("char", ["日", "😀", "Ж", "ש", "\u202e"])
def test_bytes_of_one_character_are_said_to_be_its_parts(
    make: Callable[[], PreTrainedTokenizerFast], char: str
) -> None:
    tokens, name, count = tokens_of(make(), f"cat {char}{char}s"), visible(char), len(char.encode())
    parts = [f"{name} {part}/{count}" for part in range(1, count + 1)]
    assert shown(tokens)[-2 * count - 1 :] == [*parts, *parts, "s"]
    assert merged(tokens)[-1].removeprefix("cat") in {f"{name}{name}s", "s"}
    assert f"{name}{name}" in "".join(merged(tokens))
