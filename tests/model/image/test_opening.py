"""Uploads: every odd file is opened with a word on what was changed, or refused with a reason."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from core.model import open_image
from core.model.errors import ImageError
from core.model.image import opening

if TYPE_CHECKING:
    from collections.abc import Callable

RED, GREEN = (255, 0, 0), (0, 255, 0)


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


def jpeg_with(marker: int, body: bytes) -> bytes:
    """A small photograph with a segment after its start."""
    data = encoded(two_halves(), "JPEG")
    segment = bytes([0xFF, marker]) + struct.pack(">H", 2 + len(body)) + body
    return data[:2] + segment + data[2:]


def jpeg_of_scans(count: int) -> bytes:
    """A progressive photograph whose last scans come again and again."""
    data = encoded(two_halves(1_000, 1_000), "JPEG", progressive=True)
    scan = data.index(b"\xff\xda")
    return data[:scan] + count * data[scan:-2] + data[-2:]


def test_the_three_formats_open_without_a_word() -> None:
    for kind, settings in (("PNG", {}), ("JPEG", {"quality": 95}), ("WEBP", {"lossless": True})):
        opened = open_image(encoded(two_halves(), kind, **settings))
        assert (opened.image.mode, opened.image.size, opened.notes) == ("RGB", (40, 20), ())
        pixels = np.asarray(opened.image, dtype=int)
        assert np.abs(pixels[10, 2] - RED).max() < 6
        assert np.abs(pixels[10, 37] - GREEN).max() < 6


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b"hello", "not a PNG, JPEG or WebP"),
        (b"%PDF-1.7", "not a PNG, JPEG or WebP"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a PNG, JPEG or WebP"),
        (b"\x89PNG\r\n\x1a\n", "incomplete or damaged"),
        (b"\xff\xd8\xff", "incomplete or damaged"),
        (b"RIFF\0\0\0\0WEBP", "no pixels|incomplete or damaged"),
        *(
            (encoded(two_halves(), kind), "not a PNG, JPEG or WebP")
            for kind in ("GIF", "BMP", "TIFF", "ICO", "PPM")
        ),
    ],
    ids=lambda given: "" if isinstance(given, bytes) else given,
)
def test_what_is_no_image_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(ImageError, match=problem):
        open_image(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_files_that_are_cut_off_are_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (80, 80, 3), dtype=np.uint8)
    data = encoded(Image.fromarray(noise), kind)
    for share in (0.5, 0.9):
        with pytest.raises(ImageError, match="incomplete or damaged") as caught:
            open_image(data[: int(share * len(data))])
        assert caught.value.__cause__ is None


def _animated(sides: tuple[int, int]) -> bytes:
    """A PNG whose first picture is to be wiped: PIL makes two more of its size."""
    control = struct.pack(">IIIIIHHBB", 0, *sides, 0, 0, 1, 1, 1, 0)
    return png(sides, 8, 6, chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", control))


TOO_MUCH = r"Opening the image, {} pixels in a file of this kind, takes too much memory; this app"
SECOND_HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 9_999, 9_999, 8, 6, 0, 0, 0))
LARGE: dict[str, tuple[Callable[[], bytes], str]] = {  # with how it is refused, if it is
    "webp of 34 bytes": (
        lambda: webp_of_one_colour(16_383, 3_050),
        TOO_MUCH.format("16,383 x 3,050"),
    ),
    "webp beyond the limit": (
        lambda: webp_of_one_colour(16_383, 3_060),
        "has 16,383 x 3,060 pixels; this app opens at most 50 million",
    ),
    "webp within": (lambda: webp_of_one_colour(4_080, 3_060), ""),
    "colours": (lambda: png((7_071, 7_071), 8, 2), ""),
    "colours with alpha": (lambda: png((7_071, 7_071), 8, 6), TOO_MUCH.format("7,071 x 7,071")),
    "grey of 16 bits": (lambda: png((5_000, 5_000), 16, 0, chunk(b"tRNS", b"\0\1")), ""),
    "grey with alpha of 16 bits": (lambda: png((5_000, 5_000), 16, 4), ""),
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
    "camera of a photograph says much": (
        lambda: jpeg_with(0xE1, b"Exif\0\0" + exif_of_many_entries(0)[:60_000]),
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


def test_a_file_of_more_than_20_mb_is_refused() -> None:
    with pytest.raises(ImageError, match=r"has 20\.0 MB; this app opens images of at most 20 MB"):
        open_image(b"\xff\xd8\xff" + bytes(20_000_000))


@pytest.mark.parametrize("size", [(50_001, 1_000), (2**31 - 1, 2**31 - 1), (60_000, 60_000)])
def test_bombs_are_refused_by_their_header(size: tuple[int, int]) -> None:
    with pytest.raises(ImageError, match="pixels; this app opens at most 50 million"):
        open_image(png(size, 8, 2, empty=True))


def test_a_strip_is_refused() -> None:
    with pytest.raises(ImageError, match="a strip of 4000 x 2 pixels"):
        open_image(encoded(Image.new("RGB", (4_000, 2)), "PNG"))


def test_printing_colours_are_converted_and_told() -> None:
    cyan = Image.new("CMYK", (20, 20), (255, 0, 0, 0))
    opened = open_image(encoded(cyan, "JPEG", quality=95))
    assert np.abs(np.asarray(opened.image, dtype=int) - (0, 255, 255)).max() < 6
    (note,) = opened.notes
    assert "CMYK" in note


def test_grey_of_16_bits_is_scaled_and_not_clipped() -> None:
    """PIL alone would make white of everything above 255."""
    ramp = np.linspace(0, 65_535, 256).astype(np.uint16)
    opened = open_image(encoded(Image.fromarray(np.tile(ramp, (4, 1))), "PNG"))
    expected = np.repeat(np.arange(256)[:, None], 3, axis=1)
    np.testing.assert_array_equal(np.asarray(opened.image)[0], expected)
    assert opened.notes == ("Its 16 bits a channel were rounded to 8.",)


def test_a_clear_value_of_16_bits_becomes_white() -> None:
    """The next value, which rounds to the same grey, stays."""
    grey = np.full((20, 20), 30_001, dtype=np.uint16)
    grey[:, :10] = 30_000
    opened = open_image(encoded(Image.fromarray(grey), "PNG", transparency=30_000))
    assert opened.image.getpixel((2, 2)) == (255, 255, 255)
    assert opened.image.getpixel((15, 2)) == (117, 117, 117)  # 30,001 / 257 = 116.7
    assert opened.notes[-1] == "Its transparent parts are shown on white."


def test_a_palette_and_an_alpha_channel_that_hides_nothing_are_no_news() -> None:
    for image, mode in ((two_halves().quantize(2), "P"), (two_halves().convert("RGBA"), "RGBA")):
        assert image.mode == mode
        opened = open_image(encoded(image, "PNG"))
        np.testing.assert_array_equal(np.asarray(opened.image), np.asarray(two_halves()))
        assert opened.notes == ()


def test_a_transparent_colour_of_a_palette_becomes_white() -> None:
    palette = two_halves().quantize(2)
    clear = palette.getpixel((0, 0))
    opened = open_image(encoded(palette, "PNG", transparency=clear))
    assert opened.image.getpixel((0, 0)) == (255, 255, 255)
    assert opened.image.getpixel((39, 0)) == GREEN
    assert opened.notes == ("Its transparent parts are shown on white.",)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_half_transparent_black_is_grey_on_white(kind: str) -> None:
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 128))
    opened = open_image(encoded(image, kind, **({"lossless": True} if kind == "WEBP" else {})))
    assert opened.image.getpixel((5, 5)) == (127, 127, 127)
    assert opened.notes == ("Its transparent parts are shown on white.",)


@pytest.mark.parametrize(
    ("kind", "settings"), [("PNG", {}), ("JPEG", {"quality": 95}), ("WEBP", {"lossless": True})]
)
def test_a_camera_held_sideways_is_turned_upright(kind: str, settings: dict[str, Any]) -> None:
    """Orientation 6: the camera was turned; what is stored on the left belongs on top."""
    exif = Image.Exif()
    exif[0x0112] = 6
    opened = open_image(encoded(two_halves(), kind, exif=exif, **settings))
    assert opened.image.size == (20, 40)
    pixels = np.asarray(opened.image, dtype=int)
    assert np.abs(pixels[2, 10] - RED).max() < 6
    assert np.abs(pixels[37, 10] - GREEN).max() < 6
    assert opened.notes == ("It was turned upright, as its camera says (EXIF).",)


def test_damaged_exif_is_no_reason_to_refuse() -> None:
    opened = open_image(encoded(two_halves(), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff"))
    assert opened.image.size == (40, 20)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_of_an_animation_the_first_picture_is_shown(kind: str) -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("blue", "red", "lime")]
    settings = {"lossless": True} if kind == "WEBP" else {}
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **settings)
    opened = open_image(data)
    assert opened.image.getpixel((5, 5)) == (0, 0, 255)
    assert opened.notes == ("It has 3 pictures; this is the first.",)


def test_a_large_image_is_reduced_and_told() -> None:
    for kind in ("PNG", "JPEG"):
        opened = open_image(encoded(two_halves(4_000, 2_000), kind))
        assert opened.image.size == (1_600, 800)
        assert opened.image.getpixel((10, 10)) in {RED, (254, 0, 0)}
        assert opened.notes == (
            "It was reduced from 4,000 x 2,000 pixels (as stored) to 1,600 x 800.",
        )


def test_another_profile_is_told_and_a_profile_is_srgb_by_its_description_alone() -> None:
    """Any other may be compared with sRGB in its copyright, or behind its end."""
    usual = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    other = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    assert open_image(encoded(two_halves(), "PNG", icc_profile=usual)).notes == ()
    for profile in (other, other + b"sRGB", b"sRGB", usual[:140], b"\xff" * 200):
        (note,) = open_image(encoded(two_halves(), "PNG", icc_profile=profile)).notes
        assert "colour profile" in note


def test_only_pictures_that_are_there_are_counted() -> None:
    """An animation may claim 2^31 - 1 of them in 111 bytes."""
    whole = encoded(two_halves(), "PNG")
    claim = chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))
    assert open_image(whole[:33] + claim + whole[33:]).notes == ()


def test_nothing_is_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(two_halves(), "WEBP")
    monkeypatch.setattr(opening, "available_bytes", lambda: 10**9)  # which the system's files tell
    monkeypatch.setattr("tempfile.mkstemp", lambda *_: pytest.fail("a file was made"))
    assert open_image(data).image.size == (40, 20)
