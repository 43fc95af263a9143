"""Tools still run: what made the bundled models, whose weights are another run's, and benches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.model import load
from tests.server import ROOT
from tests.tools.making import novels, scenes


def test_a_network_of_novels_is_trained_and_opens(tmp_path: Path) -> None:
    text = "He saw the old house {} and said nothing. She was there again. It rained."
    book = tmp_path / "book.txt"
    book.write_text("\n".join(text.format(n) for n in range(200)), "utf-8")
    small = novels.Settings(
        vocabulary=320, layers=2, heads=2, width=16, positions=24, window=12, batch=8
    )
    novels.train(book, tmp_path, 60, small, max_steps=2)
    model = load(str(tmp_path))
    assert (model.layers, model.heads, model.max_tokens) == (2, 2, 24)
    assert model.tokenizer("He saw")["input_ids"][0] == model.tokenizer.bos_token_id


def test_a_network_of_scenes_is_trained_and_opens(tmp_path: Path) -> None:
    small = scenes.Settings(
        layers=2, heads=2, width=16, inner=16, batch=4, scenes=8, mosaics=4, photographs=2
    )
    scenes.train(tmp_path, 60, small, max_steps=2)
    model = load(str(tmp_path))
    assert model.sees_images
    assert (model.layers, model.heads, model.max_tokens) == (2, 2, 145)
    assert model.network.config.id2label[0] == "red circle"


@pytest.mark.browser
@pytest.mark.nightly
def test_every_benchmark_runs_to_its_end_and_counts_no_error() -> None:
    command = [sys.executable, "-m", "tests.tools.bench", "--smoke"]
    own = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
