"""The scripts that trained gpt2-novels: what they read, in what order, and what they measure."""

from __future__ import annotations

import dataclasses
import gzip
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import GPT2Config, GPT2LMHeadModel

from core.model import load
from core.model.bundled.training.novels import books, measure
from core.model.bundled.training.novels.export import export
from core.model.bundled.training.novels.network import Settings
from core.model.bundled.training.novels.train import (
    learn_late_positions,
    learning_rate,
    train,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

TINY = Settings(
    vocabulary=300, layers=2, heads=2, width=8, positions=16, window=8, batch=4, warm_up=2
)


def write_novel(folder: Path) -> Path:
    """A text of 900 paragraphs, with the headings and footnotes that books have."""
    lines = ["THE TALE", "CHAPTER 1. A Beginning"]
    lines += [f'"No," said Mr. Hart {n} times. He went out, * and it rained.' for n in range(900)]
    lines.insert(500, "* French for something.")
    path = folder / "novel.txt.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_headings_and_footnotes_are_left_out(tmp_path: Path) -> None:
    paragraphs = books.read_paragraphs(write_novel(tmp_path))
    assert len(paragraphs) == 900
    assert paragraphs[0] == '"No," said Mr. Hart 0 times. He went out, and it rained.'


def test_what_is_kept_back_is_never_learned_from() -> None:
    learn, keep = books.split([f"p{n}" for n in range(1000)])
    learned = {paragraph for text in learn for paragraph in text.split("\n")}
    kept = {paragraph for text in keep for paragraph in text.split("\n")}
    assert kept == {f"p{n}" for n in (*range(392, 400), *range(792, 800))}
    assert learned | kept == {f"p{n}" for n in range(1000)}
    assert not learned & kept


def test_every_example_begins_with_the_mark_and_half_with_a_sentence() -> None:
    # Row r holds the mark 0 and then 1000 r + position: where an example was cut can be read off.
    learn = (1000 * np.arange(40)[:, None] + np.arange(17)).astype(np.uint16)
    learn[:, 0] = 0
    starts, used = [], []
    for step in range(10):  # one epoch
        examples = books.examples_of_step(learn, step, TINY)
        assert examples.shape == (4, 9)
        assert (examples[:, 0] == 0).all()
        assert (np.diff(examples[:, 1:], axis=1) == 1).all()
        starts += (examples[:, 1] % 1000).tolist()
        used += (examples[:, 1] // 1000).tolist()
    assert sorted(used) == list(range(40))
    assert 10 < starts.count(1) < 33
    assert max(starts) <= 9


def test_the_learning_rate_follows_the_clock() -> None:
    settings = Settings(learning_rate=0.004, warm_up=100)
    assert learning_rate(settings, 0, 0.0) == pytest.approx(0.00004)
    assert learning_rate(settings, 500, 0.0) == pytest.approx(0.004)
    assert learning_rate(settings, 500, 0.5) == pytest.approx(0.002)
    assert learning_rate(settings, 500, 1.5) == pytest.approx(0.0)


def test_head_scores_of_attention_worked_out_by_hand() -> None:
    on_first = [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    on_previous = [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
    on_itself = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    alike = [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]
    attention = np.array([[on_first, on_previous], [on_itself, alike]], dtype=np.float32)[None]
    first, previous, itself, entropy = measure.scores_of(attention)[0]
    np.testing.assert_allclose(first, [[1, 0.5], [0, 5 / 12]], rtol=1e-6)
    np.testing.assert_allclose(previous, [[0.5, 1], [0, 5 / 12]], rtol=1e-6)
    np.testing.assert_allclose(itself, [[0.0, 0.0], [1.0, 5 / 12]], rtol=1e-6)
    np.testing.assert_allclose(entropy, [[0, 0], [0, 1]], atol=1e-6)
    assert measure.uniform_first(3) == pytest.approx(5 / 12)


def test_an_untrained_head_finds_no_copies_and_one_of_equal_scores_attends_alike() -> None:
    sizes = {"vocab_size": 50, "n_positions": 64, "n_embd": 8, "n_layer": 1, "n_head": 2}
    network = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)).eval()
    network.transformer.h[0].attn.c_attn.weight.data.zero_()
    # Rows 11 to 20 of a mark and ten tokens said twice: 1/12 to 1/21 each.
    expected = np.mean(1 / np.arange(12, 22))
    scores = measure.induction_scores(network, length=10, sequences=20)
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    ids = torch.randint(0, 50, (3, 12))
    np.testing.assert_allclose(
        measure.head_scores(network, ids)[0], measure.uniform_first(12), rtol=1e-5
    )


def test_late_positions_are_learned_and_nothing_else_changes(tmp_path: Path) -> None:
    run = train(write_novel(tmp_path), tmp_path / "run", 10**9, TINY, threads=1, max_steps=3)
    learn = np.load(tmp_path / "run" / "windows.npy")
    before = {name: weight.clone() for name, weight in run.network.state_dict().items()}
    run.late_steps = 0
    learn_late_positions(run, learn, TINY, max_steps=30)
    after = run.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"transformer.wpe.weight"}
    table, old = after["transformer.wpe.weight"], before["transformer.wpe.weight"]
    torch.testing.assert_close(table[:8], old[:8], rtol=0, atol=0)
    assert (table[8:] != old[8:]).any(dim=1).all()


def test_a_run_stopped_and_started_again_ends_as_one_that_was_not(tmp_path: Path) -> None:
    text = write_novel(tmp_path)
    # A clock that hardly moves against a day: the rate is the same in both runs.
    whole = train(text, tmp_path / "whole", 10**9, TINY, threads=1, max_steps=6)
    train(text, tmp_path / "parts", 10**9, TINY, threads=1, max_steps=3)
    resumed = train(text, tmp_path / "parts", 60, TINY, threads=1, max_steps=6)
    assert resumed.step == whole.step == 6
    assert resumed.deadline - resumed.began == pytest.approx(10**9)
    for name, weight in whole.network.state_dict().items():
        torch.testing.assert_close(resumed.network.state_dict()[name], weight)
    log = [json.loads(line) for line in (tmp_path / "whole" / "log.jsonl").read_text().splitlines()]
    assert log[-1]["step"] == 6
    assert np.shape(log[-1]["first"]) == (2, 2)
    saved = json.loads((tmp_path / "whole" / "settings.json").read_text())
    assert Settings(**{**saved, "betas": tuple(saved["betas"])}) == dataclasses.replace(TINY)


def test_a_run_started_again_goes_on_at_the_minute_it_had_come_to(tmp_path: Path) -> None:
    text, folder = write_novel(tmp_path), tmp_path / "run"
    train(text, folder, 10**9, TINY, threads=1, max_steps=3)
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    # It was stopped when half of the part with all weights was over, and that is long ago.
    pause, half = 0.3 * 10**9, 0.5 * (1 - TINY.late_part) * 10**9
    saved["saved"] -= pause
    saved["began"] = saved["saved"] - half
    saved["deadline"] = saved["began"] + 10**9
    torch.save(saved, folder / "checkpoint.pt")
    halfway = train(text, folder, 10**9, TINY, threads=1, max_steps=4)
    assert halfway.step == 4
    rates = [group["lr"] for group in halfway.optimizer.param_groups]
    np.testing.assert_allclose(rates, TINY.learning_rate / 2, rtol=1e-4)


def test_a_finished_run_is_exported_as_a_model_with_its_card(tmp_path: Path) -> None:
    text, run, folder = write_novel(tmp_path), tmp_path / "run", tmp_path / "exported"
    settings = dataclasses.replace(TINY, positions=64, window=32)
    trained = train(text, run, 10**9, settings, threads=1, max_steps=3)
    export(text, run, folder, note="It was short.")
    weights = load_file(folder / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float16}
    for name, weight in trained.network.state_dict().items():
        if name in weights:
            torch.testing.assert_close(weights[name].float(), weight, rtol=1e-3, atol=1e-6)
    model = load(str(folder))
    assert (model.layers, model.heads, model.max_tokens) == (2, 2, 64)
    card = (folder / "README.md").read_text("utf-8")
    assert "**Training**: 3 steps of 4 x 32 tokens" in card
    assert "Then 3 steps on" in card
    assert "- **This run**: It was short.\n- **Loss**" in card
    assert card.count("\n| L") == 4
