"""The box of images, whose licences are said, and the command line's atlas of a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core import atlas_build
from core.atlas import open_large
from core.model import load, trace_image
from core.model.sample_images import SAMPLE_IMAGES, open_sample_image
from tests.model.image.families import FAMILIES, build, image

FOLDER = Path(__file__).parents[2] / "core" / "model" / "sample_images"


@pytest.mark.parametrize("name", SAMPLE_IMAGES)
def test_a_picture_is_square_rgb_of_bounded_size_and_says_whose_it_is(name: str) -> None:
    image = open_sample_image(name)
    assert image.mode == "RGB"
    assert image.width == image.height
    assert 224 <= image.width <= 480
    assert SAMPLE_IMAGES[name].name == name
    assert np.asarray(image).std() > 5  # it shows something
    record = SAMPLE_IMAGES[name]
    assert record.title
    assert record.look_for[-1] in ".?"
    assert record.licence in {"MIT, as this project", "CC0 1.0", "public domain", "CC BY 2.0"}
    assert record.author
    assert bool(record.source) == (record.group == "photograph")


def test_no_file_is_large_or_without_an_entry_and_an_unknown_name_is_refused() -> None:
    files = [*FOLDER.glob("*.jpg"), *FOLDER.glob("*.png")]
    assert {path.stem for path in files} <= set(SAMPLE_IMAGES)
    assert all(path.stat().st_size <= 80_000 for path in files)
    with pytest.raises(KeyError):
        open_sample_image("../secrets")


# ---- the command line's atlas of a folder of images --------------------------------------------


@pytest.fixture
def model(tmp_path: Path) -> Path:
    build(FAMILIES["vit"], tmp_path / "model")
    return tmp_path / "model"


def run(model: Path, folder: Path, out: Path) -> int:
    return atlas_build.main(["--model", str(model), "--images", str(folder), "--out", str(out)])


def test_a_folder_becomes_an_atlas_with_its_pixels(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for seed, name in enumerate("abc"):
        Image.fromarray(image(seed=seed)).save(folder / f"{name}.png")
    (folder / "notes.txt").write_text("no image")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff no more")
    assert run(model, folder, tmp_path / "out.atlas") == 0
    told = capsys.readouterr().err
    assert "broken.jpg is left out" in told
    assert "3 images" in told
    atlas = open_large(tmp_path / "out.atlas").sample
    assert atlas.sentences == ("a", "b", "c")
    assert atlas.images is not None
    for seed in range(3):
        np.testing.assert_array_equal(atlas.images.pixels[seed], image(seed=seed))
    trace = trace_image(load(str(model)), image())
    norms = np.linalg.norm(trace.queries, axis=-1)  # of the first image
    np.testing.assert_allclose(atlas.norms[:, :, : len(trace.tokens)], norms, rtol=1e-4)


def test_no_folder_and_no_image_are_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model, tmp_path / "missing", tmp_path / "out.atlas") == atlas_build.FAILED
    (tmp_path / "empty").mkdir()
    assert run(model, tmp_path / "empty", tmp_path / "out.atlas") == atlas_build.FAILED
    lines = capsys.readouterr().err.strip().splitlines()
    assert "There is no folder" in lines[0]
    assert "has no image" in lines[-1]
    assert not (tmp_path / "out.atlas").exists()
