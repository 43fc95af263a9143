"""The head report of a head on the atlas page, in process."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.atlas.one_head import sample
from core.model import effects, load, trace_text
from core.model.interventions.written import written_norms
from core.screens.atlas.head import head_report
from core.screens.atlas.head.report_file import HeadReport, report_file
from tests.pages.atlases import LINES, opened, small
from tests.pages.conftest import alerts, pick, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.atlas import Atlas
    from core.components.contexts import ContextGroup

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[ContextGroup]]:
    """The contexts of every report that was drawn."""
    drawn: list[Sequence[ContextGroup]] = []
    monkeypatch.setattr(head_report, "show_contexts", lambda groups, **_: drawn.append(groups))
    return drawn


@pytest.mark.usefixtures("clouds")
def test_a_dossier_has_contexts_of_every_tenth_with_the_models_own_attention(
    shown: list[Sequence[ContextGroup]],
) -> None:
    app = opened(small(), part="one", layer="4", head="2")
    assert not shown
    app.toggle(key="dossier").set_value(True).run()
    assert not app.exception
    assert app.query_params["dossier"] == "1"
    groups = shown[-1]
    assert [group.title.split(":")[0].split(",")[0] for group in groups] == [
        f"Decile {number}" for number in range(10, 0, -1)
    ]
    strengths = []
    for context in (each for group in groups for each in group.contexts):
        trace = trace_text(load("bundled/minilm"), LINES[context.number - 1])
        weights = trace.attention(3, 1)[context.query]
        assert list(context.tokens) == [token.display for token in trace.tokens]
        np.testing.assert_allclose(context.weights, weights, atol=1e-5)
        others = [
            weight
            for place, (weight, token) in enumerate(zip(weights, trace.tokens, strict=True))
            if place != context.query and not token.special
        ]
        assert weights[context.key] == pytest.approx(max(others), abs=1e-5)
        strengths.append(float(weights[context.key]))
    assert strengths == sorted(strengths, reverse=True)  # tenth by tenth, strongest first
    assert re.search(r"; 2 of [\d,]+ contexts from each tenth", said(app))


@pytest.mark.usefixtures("clouds", "shown")
def test_a_dossier_names_the_pattern() -> None:
    app = opened(small(), part="one", layer="1", head="3", dossier="1")
    words = said(app)
    told = re.search(
        r"\*\*Head pattern:\*\* previous token: gives ([01]\.\d+) of its attention", words
    )
    assert told is not None
    assert float(told[1]) > 0.9
    assert "open_head_effect" in [button.key for button in app.button]


@pytest.mark.usefixtures("clouds", "shown")
def test_a_dossier_says_whether_the_head_is_needed_in_sentences_of_the_corpus() -> None:
    app = opened(small(), part="one", layer="4", head="10", dossier="1")
    words, minilm = said(app), load("bundled/minilm")
    listed = re.search(r"in sentences ([\d, ]+ and \d+)\. It is needed where", words)
    assert listed is not None
    sentences = [int(each) - 1 for each in re.findall(r"\d+", listed[1])]
    assert len(set(sentences)) == 4
    needed = 0
    for name, other in (("its mean", "mean"), ("zero", "zero"), ("another text's", "resample")):
        options: Any = {"replace": other, "heads": [(3, 9)], "draws": 19}
        found = [effects(minilm, LINES[each], **options) for each in sentences]
        sizes = [(abs(each.values[3, 9]), each.control[3, 9]) for each in found]
        effect, control = np.mean(sizes, axis=0)
        beyond = sum(size > most for size, most in sizes)
        needed += beyond > 2
        line = f"{effect:.3g} on the sentence vector (1 − cosine), random directions at most"
        assert f"**Replaced by {name}:** {line} {control:.3g}, on average; larger in" in words
        assert f"larger in {beyond} of 4" in words
    assert f"**{'' if needed == 3 else 'not shown to be '}needed here**" in words
    norms = [written_norms(minilm, LINES[each]) for each in sentences]
    share = np.mean([each[3, 9] / each[3].mean() for each in norms if each is not None])
    assert f"**Carries:** {share:.2f} times what the mean head" in words


@pytest.mark.usefixtures("clouds")
def test_sentences_are_run_once_for_all_heads(
    monkeypatch: pytest.MonkeyPatch, shown: list[Sequence[ContextGroup]]
) -> None:
    runs = []
    drawn = sample.draw_sentences

    def counted(atlas: Atlas) -> list[int]:
        runs.append(atlas)
        return drawn(atlas)

    monkeypatch.setattr(head_report, "draw_sentences", counted)
    app = opened(small(), part="one", dossier="1")
    pick(app, head="5")
    pick(app, layer="2")
    assert len(shown) == 3
    assert len(runs) == 1


@pytest.mark.usefixtures("clouds", "shown")
def test_where_the_model_is_not_here_the_page_says_why_there_is_no_head_report() -> None:
    app = opened(replace(small(), model="nobody/nothing"), part="one", dossier="1")
    assert not app.exception
    assert "nobody/nothing" in said(app) + alerts(app)
    assert "atlas_dossier_file" not in [button.key for button in app.button]


def test_the_report_holds_everything_and_asks_nothing_of_a_network() -> None:
    facts = [("Head pattern", f"**none** {HOSTILE}"), ("What is odd", r"0\.5 of \*it\*")]
    page = report_file(
        "L1 H2",
        HOSTILE,
        HeadReport(facts, [], "**Strength** of a context"),
        np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32),
        {"model": "m"},
    )
    assert HOSTILE not in page
    for words in ("Head report of L1 H2", "0.5 of *it*", "Strength of a context"):
        assert words in page
    assert page.count("<circle") == 10
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
