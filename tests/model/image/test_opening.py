"""Uploads: every odd file is opened with a word on what was changed, or refused with a reason."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from core.model import open_image
from core.model.errors import ImageError
from core.model.image import opening
from core.model.image.formats.icc import is_srgb
from tests.hostile.attacks_on_pictures import chunk

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


def png_of_size(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds almost nothing."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


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


def test_an_image_needs_no_more_memory_than_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """PIL keeps 4 bytes of a pixel in colours, and of grey one."""
    monkeypatch.setattr(opening, "available_bytes", lambda: 3_999_999)
    with pytest.raises(ImageError, match=r"1,000 x 1,000 pixels.* takes 4 MB of memory; 4 MB are"):
        open_image(encoded(Image.new("RGB", (1_000, 1_000)), "PNG"))
    assert open_image(encoded(Image.new("L", (1_000, 1_000)), "PNG")).image.size == (1_000, 1_000)


def test_a_file_of_more_than_20_mb_is_refused() -> None:
    with pytest.raises(ImageError, match=r"has 20\.0 MB; this app opens images of at most 20 MB"):
        open_image(b"\xff\xd8\xff" + bytes(20_000_000))


@pytest.mark.parametrize("size", [(50_001, 1_000), (2**31 - 1, 2**31 - 1), (60_000, 60_000)])
def test_bombs_are_refused_by_their_header(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_upright_rgb", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(ImageError, match="pixels; this app opens at most 50 million"):
        open_image(png_of_size(*size))


@pytest.mark.parametrize(
    "settings", [{"lossless": True}, {"lossless": False}, {"exif": b"Exif\0\0" + bytes(9)}]
)
def test_a_webp_bomb_is_refused_before_its_decoder_starts(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decoder takes memory for the whole image when it opens the file."""
    monkeypatch.setattr(opening, "MAX_PIXELS", 40 * 20 - 1)
    monkeypatch.setattr(
        "PIL._webp.WebPAnimDecoder", lambda *_: pytest.fail("the decoder was started")
    )
    with pytest.raises(ImageError, match="has 40 x 20 pixels"):
        open_image(encoded(two_halves(), "WEBP", **settings))


@pytest.mark.parametrize("comment", [b"", b"\xff\xfe\0\x04\xff\xd9"])
def test_a_jpeg_of_endless_scans_is_refused(comment: bytes) -> None:
    """The end of an image inside a comment is not the end of this one."""
    data = encoded(two_halves(), "JPEG", progressive=True)
    assert open_image(data).notes == ()
    scan = data.index(b"\xff\xda")
    with pytest.raises(ImageError, match="more than 100 scans"):
        open_image(data[:scan] + comment + 101 * data[scan:-2] + data[-2:])


def test_only_scans_of_the_image_count_not_bytes_that_look_like_them() -> None:
    """A profile of colours, EXIF with a thumbnail, and a film behind the image's end hold such."""
    by_chance = 150 * b"\xff\xda"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes() + by_chance
    data = encoded(two_halves(), "JPEG", icc_profile=profile, exif=b"Exif\0\0II*\0" + by_chance)
    assert data.count(b"\xff\xda") > 300
    opened = open_image(data + by_chance)
    assert (opened.image.size, opened.notes) == ((40, 20), ())


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
    named = (b"sRGB", "sRGB".encode("utf-16-be"))
    assert open_image(encoded(two_halves(), "PNG", icc_profile=usual)).notes == ()
    for profile in (other, *(other + name for name in named), *named, usual[:140], b"\xff" * 200):
        assert not is_srgb(profile)
        (note,) = open_image(encoded(two_halves(), "PNG", icc_profile=profile)).notes
        assert "colour profile" in note
    text = b"sRGB IEC61966-2.1\0"
    second = bytes(128) + struct.pack(">I4sII", 1, b"desc", 144, 12 + len(text))
    assert is_srgb(usual)
    assert is_srgb(second + b"desc" + bytes(4) + struct.pack(">I", len(text)) + text)


def test_only_pictures_that_are_there_are_counted() -> None:
    """An animation may claim 2^31 - 1 of them in 111 bytes."""
    whole = encoded(two_halves(), "PNG")
    claim = chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))
    assert open_image(whole[:33] + claim + whole[33:]).notes == ()


def test_nothing_is_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(two_halves(), "WEBP")
    monkeypatch.setattr(opening, "available_bytes", lambda: 10**9)  # which the system's files tell
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("a file was opened"))
    monkeypatch.setattr("tempfile.mkstemp", lambda *_: pytest.fail("a file was made"))
    assert open_image(data).image.size == (40, 20)
