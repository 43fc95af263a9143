"""The command line's atlas of a folder of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from core import atlas_build
from core.atlas import open_large
from core.model import load, trace_image
from tests.model.image.families import FAMILIES, build, image

if TYPE_CHECKING:
    from pathlib import Path


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
