"""What people read of a token: itself, also when it is no character at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from core.analysis.attention_table import word_groups
from core.model import trace_text
from core.model.text.tokens import Spelling, display_name, read_tokens, visible
from core.model.trace import Patches, Token, Trace
from core.vocabulary import join_pieces
from tests.analysis.pictures import image_trace, picture
from tests.analysis.traces import plain_tokens, random_trace, spelled
from tests.model.bundled import loaded
from tests.model.families import byte_level


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
    special = [(token.text, token.segment, token.span) for token in trace.tokens if token.special]
    typed = [("[SEP]", 0, (4, 9)), ("[CLS]", 1, (0, 5))]  # the others are the template's
    assert [each for each in special if each[2] != (0, 0)] == typed
    assert [text for text, *_ in special] == ["[CLS]", "[SEP]", "[SEP]", "[CLS]", "[SEP]"]
    words = [(token.text, token.word) for token in trace.tokens if not token.special]
    assert words[:4] == [("one", 0), ("cap", 1), ("##y", 1), ("##bara", 1)]
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


# ---- the input of a trace, against tables and slices made by hand ------------------------------


def text(*words: str) -> Trace:
    return replace(random_trace(0, 1, 1, len(words), 2), tokens=plain_tokens(*words))


def pair() -> Trace:
    tokens = spelled("[CLS] cap ##y [SEP] it [SEP]")
    return replace(random_trace(0, 1, 1, len(tokens), 2), tokens=tokens)


def cross() -> Trace:
    """Two tokens of a decoder attend to three of a text."""
    source = plain_tokens("a", "b", "c")
    return replace(text("x", "y"), source=source, attention_type="cross")


def image(*specials: str) -> Trace:
    """Two rows of three patches, after these special tokens."""
    vectors = np.zeros((1, 1, 6 + len(specials), 2))
    return image_trace(picture(np.zeros((2, 3, 3))), vectors, vectors, specials=specials)


def test_distance_is_counted_in_words_or_in_rows_or_columns_whichever_are_more() -> None:
    """Tokens of two texts are no neighbours, and infinitely far apart."""
    assert not cross().input.beside(-1).any()
    assert not cross().input.beside(0).any()
    np.testing.assert_array_equal(cross().input.apart(), np.full((2, 3), np.inf))
    apart = pair().input.apart()
    assert apart[1].tolist()[1:3] == [0, 0]  # pieces of one word
    assert (apart[1, 4], apart[4, 2]) == (1, 1)
    assert text("a", "b", "c").input.apart().tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    apart = image("[CLS]").input.apart()[1:, 1:]
    assert apart[0].tolist() == [0, 1, 2, 1, 1, 2]
    assert apart[4].tolist() == [1, 1, 1, 1, 0, 1]


TEXT, CROSS = "the first token", "the first token of your text"
DECODER = "what the decoder reads"


@pytest.mark.parametrize(
    ("trace", "kind", "first", "specials", "read"),
    [
        (pair(), "text", TEXT, "special tokens", "your text"),
        (replace(pair(), attention_type="decoder"), "text", TEXT, "special tokens", DECODER),
        (cross(), "cross", CROSS, "special tokens", DECODER),
        (image("[CLS]"), "image", "CLS", "CLS", "this image"),
        (image("[CLS]", "[REG1]"), "image", "CLS", "CLS and registers", "this image"),
        (image(), "image", "the first patch", "", "this image"),
    ],
)
def test_what_pages_call_it(trace: Trace, kind: str, first: str, specials: str, read: str) -> None:
    seen = trace.input
    assert (seen.kind, seen.modality) == (kind, "image" if kind == "image" else "text")
    assert (seen.first, seen.specials, seen.read) == (first, specials, read)
    parts = [range(9)[part] for part in seen.key_parts]  # by whose sum attention may be divided
    assert parts == [range(9), *([range(9)[trace.patches.tokens]] if trace.patches else [])]
    assert seen.queries == ("query tokens" if kind == "cross" else "tokens")


def test_patches_are_read_row_by_row_after_what_stands_before_them() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4 * 2, 4 * 3, 3)).astype(np.uint8)
    patches = Patches(pixels, rows=2, columns=3, size=4, first=5, given=(80, 120))
    assert patches.tokens == slice(5, 11)
    by_hand = [pixels[y : y + 4, x : x + 4] for y in (0, 4) for x in (0, 4, 8)]
    np.testing.assert_array_equal(patches.cells, by_hand)
    means = [cell.mean((0, 1)) / 255 for cell in by_hand]
    np.testing.assert_allclose(patches.colours, means, rtol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        patches.pixels[0, 0] = 0
