"""Uploads: every odd file is opened with a word on what was changed, or refused with a reason."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from core.model import open_image
from core.model.errors import ImageError
from core.model.image import opening

RED, GREEN, WHITE = (255, 0, 0), (0, 255, 0), (255, 255, 255)


def encoded(image: Image.Image, kind: str, **settings: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def two_halves(width: int = 40, height: int = 20) -> Image.Image:
    """Red on the left, green on the right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(GREEN, (width // 2, 0, width, height))
    return image


def chunk(name: bytes, body: bytes) -> bytes:
    """A part of a PNG file."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(
    sides: tuple[int, int], depth: int, colour: int, *before: bytes, empty: bool = False
) -> bytes:
    """Zeros of `sides` (width, height), or no pixels at all, after chunks that stand `before`."""
    packer = zlib.compressobj(1)
    row = b"" if empty else bytes(1 + sides[0] * {0: 1, 2: 3, 4: 2, 6: 4}[colour] * depth // 8)
    pixels = b"" if empty else b"".join([packer.compress(row) for _ in range(sides[1])])
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", *sides, depth, colour, 0, 0, 0))
    rest = (*before, chunk(b"IDAT", pixels + packer.flush()), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(rest)


def webp_of_one_colour(width: int, height: int) -> bytes:
    """A lossless WebP of 34 bytes: five Huffman codes of one symbol, so that no pixel has a bit."""
    bits = (width - 1) | (height - 1) << 14
    place = 14 + 14 + 1 + 3  # the sides, no alpha, version 0
    place += 3  # no transform, no cache of colours, no second layer of codes
    for _ in range(5):  # a simple code (1) of one symbol (0), which is one bit wide (0): zero
        bits |= 1 << place
        place += 4
    body = (b"\x2f" + bits.to_bytes(-(-place // 8), "little")).ljust(14, b"\0")
    size = struct.pack("<I", len(body))
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBPVP8L" + size + body


def exif_of_many_entries(value_bytes: int) -> bytes:
    """65,000 entries, each with another tag, all of which name the same megabytes."""
    entries = (struct.pack("<HHII", tag, 7, value_bytes, 8) for tag in range(0x0113, 65_000))
    table = b"".join(entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(table) // 12) + table + bytes(value_bytes)


def jpeg_of_scans(count: int) -> bytes:
    """A progressive photograph whose last scans come again and again."""
    data = encoded(two_halves(1_000, 1_000), "JPEG", progressive=True)
    scan = data.index(b"\xff\xda")
    return data[:scan] + count * data[scan:-2] + data[-2:]


SETTINGS: dict[str, Any] = {"PNG": {}, "JPEG": {"quality": 95}, "WEBP": {"lossless": True}}
HALVES = {(2, 10): RED, (37, 10): GREEN}
SIDEWAYS = Image.Exif()
SIDEWAYS[0x0112] = 6  # the camera was turned: what is stored on the left belongs on top
SRGB, OTHER = (
    ImageCms.ImageCmsProfile(ImageCms.createProfile(name)).tobytes() for name in ("sRGB", "LAB")
)
CYAN = Image.new("CMYK", (20, 20), (255, 0, 0, 0))
SHADE = Image.new("RGBA", (20, 20), (0, 0, 0, 128))
PALETTE = two_halves().quantize(2)
CLEAR = {"transparency": PALETTE.getpixel((0, 0))}
BLUE, *MORE = (Image.new("RGB", (20, 20), colour) for colour in ("blue", "red", "lime"))
# PIL alone would make white of everything above 255. 30,001 / 257 = 116.7.
RAMP = Image.fromarray(np.linspace(0, 65_535, 256).astype(np.uint16)[:, None].repeat(9, axis=1))
NEAR = Image.fromarray(np.array([[30_000, 30_001]], dtype=np.uint16))
OPENED: list[tuple[str, Image.Image, dict[str, Any], dict[Any, Any], tuple[str, ...]]] = [
    ("PNG JPEG WEBP", two_halves(), {}, HALVES, ()),
    (
        "PNG JPEG WEBP",
        two_halves(),
        {"exif": SIDEWAYS},
        {(9, 2): RED, (9, 37): GREEN},
        ("upright",),
    ),
    ("JPEG", two_halves(), {"exif": b"Exif\0\0MM\0*\xff\xff\xff\xff"}, HALVES, ()),
    ("PNG JPEG", two_halves(4_000, 2_000), {}, {(9, 9): RED, (1_590, 790): GREEN}, ("x 800",)),
    ("JPEG", CYAN, {}, {(5, 5): (0, 255, 255)}, ("CMYK",)),
    ("PNG WEBP", SHADE, {}, {(5, 5): (127, 127, 127)}, ("on white",)),
    (
        "PNG WEBP",
        BLUE,
        {"save_all": True, "append_images": MORE},
        {(5, 5): (0, 0, 255)},
        ("has 3",),
    ),
    ("PNG", two_halves().convert("RGBA"), {}, HALVES, ()),
    ("PNG", PALETTE, {}, HALVES, ()),
    ("PNG", PALETTE, CLEAR, {(0, 0): WHITE, (39, 0): GREEN}, ("on white",)),
    ("PNG", RAMP, {}, {(0, grey): (grey,) * 3 for grey in range(256)}, ("16 bits",)),
    (
        "PNG",
        NEAR,
        {"transparency": 30_000},
        {(0, 0): WHITE, (1, 0): (117,) * 3},
        ("16", "on white"),
    ),
    ("PNG", two_halves(), {"icc_profile": SRGB}, HALVES, ()),
    *(  # which name sRGB in their copyright or behind their end, or are damaged
        ("PNG", two_halves(), {"icc_profile": profile}, HALVES, ("colour profile",))
        for profile in (OTHER, OTHER + b"sRGB", b"sRGB", SRGB[:140], b"\xff" * 200)
    ),
]


@pytest.mark.parametrize(("kinds", "image", "settings", "pixels", "told"), OPENED)
def test_what_was_changed_is_told_and_nothing_else(
    kinds: str,
    image: Image.Image,
    settings: dict[str, Any],
    pixels: dict[tuple[int, int], Any],
    told: tuple[str, ...],
) -> None:
    for kind in kinds.split():
        opened = open_image(encoded(image, kind, **SETTINGS[kind] | settings))
        assert (opened.image.mode, max(opened.image.size) <= 1_600) == ("RGB", True)
        assert all(word in note for word, note in zip(told, opened.notes, strict=True))
        for place, colour in pixels.items():
            apart = np.abs(np.array(opened.image.getpixel(place)) - colour)
            assert apart.max() < (6 if kind == "JPEG" else 1)


def test_only_pictures_that_are_there_are_counted() -> None:
    """An animation may claim 2^31 - 1 of them in 111 bytes."""
    whole = encoded(two_halves(), "PNG")
    claim = chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))
    assert open_image(whole[:33] + claim + whole[33:]).notes == ()


NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (80, 80, 3), dtype=np.uint8))
NO_IMAGE, DAMAGED = "not a PNG, JPEG or WebP", "incomplete or damaged"
TOO_MANY = " pixels; this app opens at most 50 million"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b"hello", NO_IMAGE),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", NO_IMAGE),
        *((encoded(two_halves(), k), NO_IMAGE) for k in ("GIF", "BMP", "TIFF", "ICO", "PPM")),
        (b"\x89PNG\r\n\x1a\n", DAMAGED),
        (b"\xff\xd8\xff", DAMAGED),
        (b"RIFF\0\0\0\0WEBP", f"no pixels|{DAMAGED}"),
        *((encoded(NOISE, kind)[:-400], DAMAGED) for kind in SETTINGS),
        *((encoded(NOISE, kind)[:3_000], DAMAGED) for kind in SETTINGS),
        (b"\xff\xd8\xff" + bytes(20_000_000), r"has 20\.0 MB; this app opens images of at most 20"),
        (png((50_001, 1_000), 8, 2, empty=True), TOO_MANY),
        (png((2**31 - 1, 2**31 - 1), 8, 2, empty=True), TOO_MANY),
        (webp_of_one_colour(16_383, 3_060), f"16,383 x 3,060{TOO_MANY}"),
        (encoded(Image.new("RGB", (4_000, 2)), "PNG"), "a strip of 4000 x 2 pixels"),
    ],
    ids=lambda given: "" if isinstance(given, bytes) else given,
)
def test_no_image_and_one_that_is_too_large_by_its_header_is_refused(
    data: bytes, problem: str
) -> None:
    with pytest.raises(ImageError, match=problem) as caught:
        open_image(data)
    assert caught.value.__cause__ is None


def _animated(sides: tuple[int, int]) -> bytes:
    """A PNG whose first picture is to be wiped: PIL makes two more of its size."""
    control = struct.pack(">IIIIIHHBB", 0, *sides, 0, 0, 1, 1, 1, 0)
    return png(sides, 8, 6, chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", control))


TOO_MUCH = " pixels in a file of this kind, takes too much memory; this app"
SECOND_HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 9_999, 9_999, 8, 6, 0, 0, 0))
LARGE: dict[str, tuple[Callable[[], bytes], str]] = {  # with how it is refused, if it is
    "webp of 34 bytes": (lambda: webp_of_one_colour(16_383, 3_050), f"16,383 x 3,050{TOO_MUCH}"),
    "webp within": (lambda: webp_of_one_colour(4_080, 3_060), ""),
    "colours": (lambda: png((7_071, 7_071), 8, 2), ""),
    "colours with alpha": (lambda: png((7_071, 7_071), 8, 6), f"7,071 x 7,071{TOO_MUCH}"),
    "grey of 16 bits": (lambda: png((5_000, 5_000), 16, 0, chunk(b"tRNS", b"\0\1")), ""),
    "animation that wipes": (lambda: _animated((5_000, 5_000)), ""),
    "two headers": (lambda: png((8, 8), 8, 6, SECOND_HEADER), "has 9,999 x 9,999 pixels"),
    "progressive photograph": (
        lambda: encoded(Image.new("RGB", (5_200, 5_200)), "JPEG", progressive=True, subsampling=0),
        "",
    ),
    "camera says much": (
        lambda: png((8, 8), 8, 2, chunk(b"eXIf", exif_of_many_entries(10_000_000))),
        "",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_small_files_that_unpack_to_much_open_within_limits_or_are_refused(name: str) -> None:
    make, problem = LARGE[name]
    data = make()
    assert len(data) < 20_000_000
    if problem:
        with pytest.raises(ImageError, match=problem):
            open_image(data)
    else:
        assert max(open_image(data).image.size) <= 1_600


def test_decoding_takes_no_more_memory_than_is_free_and_no_more_time_than_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PIL keeps 4 bytes of a pixel in colours, and of grey one."""
    colours, grey = png((5_000, 5_000), 8, 2), png((5_000, 5_000), 8, 0)
    monkeypatch.setattr(opening, "available_bytes", lambda: 90_000_000)
    with pytest.raises(ImageError, match=r"5,000 x 5,000 pixels.* too much memory; 90 MB are free"):
        open_image(colours)
    assert open_image(grey).image.size == (1_600, 1_600)
    monkeypatch.setattr(opening, "MAX_DECODING_SECONDS", 1)
    with pytest.raises(ImageError, match="takes too long"):
        open_image(jpeg_of_scans(2_000))


def test_nothing_is_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(two_halves(), "WEBP")
    monkeypatch.setattr(opening, "available_bytes", lambda: 10**9)  # which the system's files tell
    monkeypatch.setattr("tempfile.mkstemp", lambda *_: pytest.fail("a file was made"))
    assert open_image(data).image.size == (40, 20)
