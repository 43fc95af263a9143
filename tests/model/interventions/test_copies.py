"""Heads that are replaced together, one in each copy of an input, have the same effects alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from core.model import effects, load
from core.model.interventions.changing import Intervention
from core.model.interventions.heads import replacement_rows, replacements
from core.model.interventions.probe import probe_of, run
from tests.model.bundled import loaded
from tests.model.families import nightly
from tests.model.sweep.tiny import build
from tests.rounding import assert_same_pass

TEXT = "the cat sat on the mat and the dog ran"
REFERENCE = ["the dog sat on the cat", "a mat and a dog and a cat ran on"]
KINDS = """
    bert albert gpt2 llama gemma2 modernbert t5 bart bloom falcon gptj deberta mpnet xlnet
    mixtral qwen3_moe gpt_oss deepseek_v3 dbrx
""".split()  # noqa: SIM905 - attention of every way, and experts
DAILY = {"bert", "albert", "gpt2", "gemma2", "t5", "bloom", "mixtral", "dbrx"}


@pytest.mark.parametrize("kind", nightly(KINDS, but=DAILY))
def test_effects_are_those_of_passes_by_themselves(kind: str, tmp_path: Path) -> None:
    build(kind, tmp_path)
    model = load(str(tmp_path))
    probe = probe_of(model, TEXT, "sentence")
    own, given = replacements(probe, TEXT, "mean", REFERENCE)
    before = run(probe)
    found = effects(model, TEXT, "mean", "sentence", reference=REFERENCE, draws=0).values
    for _, each in replacement_rows(own, given):
        expected = probe.compare(before, run(probe, Intervention([each]))).item()
        assert_same_pass(found[each.layer, each.head], expected, 1, where=kind)


def test_layers_before_the_replaced_head_are_not_computed_again() -> None:
    model, copies = loaded("bundled/minilm"), Counter[tuple[int, int]]()
    hooks = [
        layer.intermediate.dense.register_forward_hook(
            lambda _module, _inputs, made, place=place: copies.update([(place, len(made))])
        )
        for place, layer in enumerate(model.network.encoder.layer)
    ]
    effects(model, TEXT, "zero", heads=[(4, 0)], draws=19)
    for hook in hooks:
        hook.remove()
    assert [copies[layer, 20] for layer in range(6)] == [0, 0, 0, 0, 1, 1]
