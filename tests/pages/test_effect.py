"""The effect page: what replacing heads changes, on a text and over samples; its other parts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import core.analysis.rollout
from core.analysis.effect import effect_table, leading_table
from core.analysis.effect.corpus import effect_corpus_table
from core.analysis.effect.table import moved_table
from core.analysis.rollout import as_many_paths, follow_paths, uniform_mixing
from core.model import effects, load, trace_text
from core.model.errors import ModelError, UnsupportedModelError
from core.model.interventions import heads
from core.model.interventions.ablation import Cell, ablate
from core.model.interventions.direct import direct_effects, direct_parts, written_words
from core.model.interventions.lens import logit_lens
from core.model.interventions.reference import samples_of
from core.model.weights.mixing import token_mixing
from core.screens.heads import ablation, effect
from core.screens.heads import effects as measuring
from core.screens.heads import effects_corpus as corpus
from core.ui import navigation
from core.ui.cache import TraceKey
from tests.conftest import FolderOf
from tests.model.planted import PLANTED
from tests.model.sweep.tiny import build
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, charts, numbers, said, sent
from tests.pages.vision import open_image
from tests.rounding import assert_same_shares

MINILM, NOVELS = "bundled/minilm", "bundled/gpt2-novels"
KING = "the king met a dog , and then the king"


def test_the_answer_the_map_and_the_card_say_what_is_measured() -> None:
    app = open_app("effect", model=NOVELS, text=KING, layer="1", head="2", replace="zero")
    model, trace = load(NOVELS), trace_text(load(NOVELS), KING)
    key = TraceKey(NOVELS, KING)
    leaders = leading_table(trace, measuring.measured_effects(key, "zero", "kl", "fresh"))
    passing = leaders[leaders["matters"]]
    first = (passing if len(passing) else leaders).iloc[0]
    answer = next(line for line in said(app).splitlines() if "on this text" in line)
    assert f"L{first['layer']} H{first['head']}" in answer
    assert f"{first['low']:.3g} to {first['high']:.3g}; 14 tokens: a hint." in answer
    assert ("is beyond chance on this text" in answer) == (len(passing) == 0)
    table = effect_table(trace, measuring.measured_effects(key, "zero", "kl"))
    assert f"({table['exceeds'].sum()} of 16 heads; 8 directions each" in said(app)
    found = effects(model, KING, "zero", heads=[(0, 1)], draws=19, seed=1)
    change, control = found.values[0, 1], found.control[0, 1]
    shown = f"**{change:.3g}**" if abs(change) > control else f"{change:.3g}"
    assert f"| zero | {shown} | ≤ {control:.3g} |" in said(app)
    assert "**L1 H2: first token.**" in said(app)


def test_values_are_drawn_before_chance_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is measured once; the largest head is named before the next step begins."""
    events: list[int | str] = []
    run = measuring._run

    def noted(*arguments: Any, **options: Any) -> Any:
        if "progress" in options:
            events.append(options["draws"])
        return run(*arguments, **options)

    def ask(text: str) -> None:
        events.append(text)
        navigation.set_headline(text)

    monkeypatch.setattr(measuring, "_run", noted)
    monkeypatch.setattr(effect, "set_headline", ask)
    app = open_app("effect", model=NOVELS, text="It rains in the north again.")
    values, largest, fresh, answer, every, _ = events
    assert [values, fresh, every] == [0, 99, 8]
    assert "not measured yet" in str(largest)
    assert "99 random directions" in str(answer)
    assert "not measured yet" not in said(app)


def test_visitors_of_one_text_have_it_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ask before the first run is over; the others wait, and get what it found."""
    runs: list[object] = []

    def run(*_: object, **__: object) -> object:
        time.sleep(0.3)
        runs.append(object())
        return runs[-1]

    monkeypatch.setattr(measuring, "_run", run)
    key = TraceKey(NOVELS, "Ten of us read this at once.")
    ask = partial(measuring.measured_effects, key, "zero", "kl", "values")
    with ThreadPoolExecutor(10) as pool:
        found = [each.result(60) for each in [pool.submit(ask) for _ in range(10)]]
    assert runs == [found[0]]
    assert all(each is found[0] for each in found)


def test_a_planted_head_is_needed_and_an_idle_one_is_not() -> None:
    app = open_app("effect", model=PLANTED["induction"].folder, text=KING, layer="2", head="2")
    assert "is **needed here**" in said(app)
    assert "The model's likeliest word is `met`" in said(app)
    app.session_state["head"] = "1"
    app.run()
    assert "**L2 H1**" in said(app)
    assert "is **not shown to be needed here**" in said(app)


def test_all_that_is_written_adds_up_and_words_are_said_after_each_layer() -> None:
    app = open_app("effect", model=NOVELS, text=BOOK, part="writes", layer="2", head="3")
    parts = direct_parts(load(NOVELS), BOOK)
    first = np.unravel_index(np.argmax(parts.heads), parts.heads.shape)
    up, down = written_words(load(NOVELS), BOOK, 1, 2)
    guess = logit_lens(load(NOVELS), BOOK)[2].guesses[0]
    for words in (
        f"**L{first[0] + 1} H{first[1] + 1} writes most:**",
        f"the {parts.value:.3g} logits by which `{parts.words[0]}` is ahead",
        f"**L2 H3 writes** {parts.heads[1, 2]:.3g} logits;",
        f"Likelier: `{up[0].display}` +{up[0].logit:.2g}",
        f"Less likely: `{down[0].display}` {down[0].logit:.2g}",
        f"all heads {parts.heads.sum():.3g} logits",
        f"| layer 2 | `{guess.display}` {guess.probability * 100:.0f} %",
    ):
        assert words in _plain(app)


@pytest.fixture
def few_samples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Five sentences or images in place of all."""
    monkeypatch.setattr(corpus, "samples_of", lambda model: samples_of(model)[:5])
    corpus._place.clear()
    yield
    corpus._place.clear()


@pytest.mark.usefixtures("few_samples")
def test_the_map_over_the_corpus_says_what_is_typical_and_which_heads_exceed_chance() -> None:
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", layer="2", head="3")
    key = NOVELS, "text", "mean", "kl"
    found, compared = (corpus._place(*key, draws).kept[0] for draws in (0, heads.SAMPLE_DRAWS))
    table = effect_corpus_table(trace_text(load(NOVELS), BOOK), found, compared)
    passing, row = table[table["exceeds"]], table.iloc[4 + 2]  # of L2 H3
    first = passing.nlargest(1, "effect").iloc[0]
    assert len(passing) >= 5
    for words in (
        f"**{len(passing)} of 16 heads (dot) matter more than chance,**",
        "10 random directions on 5 of the sentences",
        f"**Over 5 sentences, L{first['layer']} H{first['head']} matters most:**",
        f"95 % interval {first['low']:.3g} to {first['high']:.3g}",
        f"{first['times']:.3g} times as much as in random directions",
        f"**{'matters' if row['exceeds'] else 'not shown to matter'}** more than chance",
        f"by **{row['effect']:.3g}** (nats; 95 % interval {row['low']:.3g} to {row['high']:.3g})",
    ):
        assert words in said(app)
    bars = [each for each in charts(app)[0]["data"] if "cmin" in each["marker"]]
    drawn = np.concatenate([numbers(each["customdata"])[:, 2] for each in bars])
    np.testing.assert_allclose(drawn, table["effect"], rtol=1e-4)


@pytest.mark.usefixtures("few_samples")
def test_what_was_measured_stays_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[tuple[int, int]] = []
    samples = samples_of(load(NOVELS))[:5]

    def noted(model: object, sample: str, *given: object, draws: int, **more: object) -> object:
        measured.append((draws, samples.index(sample)))
        if len(measured) == 7:
            raise ModelError("Stopped here.")
        return heads.effects(model, sample, *given, draws=draws, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus, "effects", noted)
    app = open_app("effect", model=NOVELS, text=BOOK, over="corpus", replace="zero")
    assert "Stopped here." in alerts(app)
    assert measured == [*((0, place) for place in range(5)), (10, 0), (10, 1)]
    app.run()
    assert measured[7:] == [(10, place) for place in range(5)]
    assert re.search("matters most|no head", said(app))
    app.run()
    assert len(measured) == 12


def _open(**link: str) -> AppTest:
    return open_app("effect", **{"text": BOOK, "part": "away", "layer": "4", "head": "2"} | link)


def _plain(app: AppTest) -> str:
    return said(app).replace("−", "-")


def _drawn(app: AppTest, chart: int) -> np.ndarray:
    """The numbers of one of the three heatmaps."""
    return numbers(charts(app)[chart]["data"][0]["z"])


def test_without_a_head_the_head_that_moved_most_stands_before_and_after() -> None:
    app = _open(replace="zero")
    result = ablate(load(MINILM), BOOK, heads=[(3, 1)], replace="zero")
    table = moved_table(result.before, result.after)
    most = divmod(int(table["moved"].argmax()), 12)
    assert most[0] > 3
    assert f"**Without L4 H2 the sentence vector changes by {result.change:.3g} (1 -" in _plain(app)
    assert f"in random directions by {result.control:.3g} at most." in said(app)
    assert f"L{most[0] + 1} H{most[1] + 1} is the head that moved most" in said(app)
    before, after = (each.attention(*most) for each in (result.before, result.after))
    for chart, expected in enumerate((before, after, after - before)):
        np.testing.assert_allclose(_drawn(app, chart), expected, rtol=0, atol=1e-6)
    tops = {charts(app)[chart]["data"][0]["zmax"] for chart in range(2)}
    assert len(tops) == 1
    app = _open(take="layer", layer="2")
    result = ablate(load(MINILM), BOOK, heads=[(1, head) for head in range(12)])
    whole = f"Without the heads of layer 2 the sentence vector changes by {result.change:.3g}"
    assert whole in _plain(app)


def test_the_pair_that_is_held_on_the_heatmap_is_taken_away() -> None:
    app = open_app("heatmap", text=BOOK, layer="4", head="2", cell="11,5")
    app.button(key="open_pair_effect").click().run()
    assert "**Without `it` → `book` in L4 H2 the sentence vector changes by" in said(app)
    weight = trace_text(load("bundled/minilm"), BOOK).attention(3, 1)[10, 4]
    assert f"The edge had a weight of {weight:.2g};" in said(app)
    app = _open(take="edge", cell="11,5", shown="L4H2", scope="all")
    assert "asks for an edge in all heads, which" in alerts(app)
    cut = ablate(load(MINILM), BOOK, cells=[Cell(10, 4, 3, 1)])
    assert f"changes by {cut.change:.3g}" in _plain(app)
    assert np.isnan(_drawn(app, 1)[10, 4])
    assert np.isfinite(_drawn(app, 1)).sum() == 13 * 13 - 1
    app.selectbox(key="cut_key").set_value("4").run()
    assert "**Without `it` → `this` in L4 H2" in said(app)
    assert app.session_state["cell"] == [11, 4]
    app.switch_page("pages/heatmap.py").run()
    assert app.query_params["cell"] == "11,4"


def test_a_model_that_cannot_be_intervened_on_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnsupportedModelError("{name} cannot be intervened on.", "Use another.", "tiny")

    monkeypatch.setattr(ablation, "_ablated", refuse)
    assert "`tiny` cannot be intervened on" in alerts(_open())


@pytest.mark.usefixtures("few_effects")
def test_pages_with_one_head_lead_to_its_card_and_the_card_does_not_lead_to_itself() -> None:
    app = open_app("head_view", text=BOOK, layer="3", head="5", heads="5")
    app.button(key="open_head_effect").click().run()
    assert "**L3 H5**" in said(app)
    assert "open_head_effect" not in [button.key for button in app.button]
    assert "open_head_atlas" in [button.key for button in app.button]


def test_the_answer_and_the_lines_are_those_of_the_analysis() -> None:
    app = open_app("effect", text=BOOK, part="paths", token="11")
    trace = trace_text(load(MINILM), BOOK)
    mixing = token_mixing(load(MINILM), trace)
    assert mixing is not None
    paths = follow_paths(mixing, 10)
    control = as_many_paths(uniform_mixing(trace, mixing), 10, paths.count)
    first = int(np.argmax(paths.relevance[0]))
    name = "itself" if first == 10 else f"`{trace.tokens[first].display}`"
    for words in (
        f"the {paths.count} lines drawn account for {100 * paths.accounted:.0f} %",
        f"under uniform attention {control.count} lines: {100 * control.accounted:.0f} %",
        f"**`it` comes from {name} ({100 * paths.relevance[0, first]:.0f} %)",
    ):
        assert words in said(app)
    data = sent(app, "paths")
    assert data["target"] == 10
    np.testing.assert_array_equal(np.reshape(data["edges"], (-1, 3)), np.argwhere(paths.kept))
    assert_same_shares(data["flows"], paths.flows[paths.kept], trace)
    assert_same_shares(data["relevance"], paths.relevance.ravel(), trace)


def test_where_no_line_can_be_drawn_no_share_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.analysis.rollout, "FLOWS", 0)
    app = open_app("effect", text=BOOK, part="paths", token="10")
    assert sent(app, "paths")["edges"].size == 0
    assert "strongest flows form no whole path" in said(app)
    assert "lines drawn account for" not in said(app)


def test_it_follows_the_held_query_then_the_word_that_home_names() -> None:
    for link, target in (
        ({}, 10),  # it
        ({"cell": "10,5"}, 9),
        ({"token": "99"}, 10),
        ({"cell": "10,5", "token": "3"}, 2),
    ):
        app = open_app("effect", text=BOOK, part="paths", **link)
        assert sent(app, "paths")["target"] == target
        assert ("some of it is not in this text" in alerts(app)) == (link.get("token") == "99")
    app.session_state["text"] = "It rains in the north."
    app.run()
    assert app.session_state["token"] == []
    assert alerts(app) == ""


# ---- with few directions, which stay until all of this file has run ---------------------------


@pytest.mark.usefixtures("few_effects")
def test_beside_an_effect_stands_what_the_head_changes_alone() -> None:
    link = {"text": BOOK, "layer": "2", "head": "3", "measure": "logit_difference"}
    app = open_app("effect", model=NOVELS, **link)
    alone = direct_effects(load(NOVELS), BOOK, "mean", "logit_difference")[1, 2]
    (row,) = [line for line in said(app).splitlines() if line.startswith("| its mean")]
    assert row.endswith(f"| {alone:.3g} |".replace("-", "−"))


@pytest.mark.usefixtures("few_effects")
def test_a_long_text_is_cut_and_that_is_said_in_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MAX_TOKENS", 8)
    text = "it rains in the north and it pours in the south ."
    link = {"model": NOVELS, "text": text, "token": "2"}
    assert "Effects are of the first 8 of 19 tokens." in said(open_app("effect", **link))
    app = open_app("effect", part="away", take="edge", **link)
    assert "Effects are of the first 8 of 19 tokens." in said(app)
    assert len(app.selectbox(key="cut_key").options) == 8
    app = open_app("effect", part="paths", **link)
    assert "The first 8 of 19 tokens." in said(app)
    assert len(sent(app, "paths")["sides"]["queries"]["labels"]) == 8


@pytest.mark.usefixtures("few_effects")
def test_what_cannot_be_followed_or_split_is_said(tmp_path: Path, folder_of: FolderOf) -> None:
    app = open_app("effect", model=str(folder_of("gemma2")), text="it rains", part="paths")
    assert "Where a token comes from cannot be said for this model" in said(app)
    assert alerts(app) == ""
    build("squeezebert", tmp_path)  # its linear maps are convolutions
    app = open_app("effect", model=str(tmp_path), text="it rains", part="writes")
    assert "cannot be said here" in said(app)
    app = open_app("effect", model=str(tmp_path), text="it rains")
    assert "| – |" in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({}, "Effect on the class, in 1 − cosine of the CLS vector"),
        ({"over": "corpus"}, "Over 2 images, "),
        ({"part": "away"}, "**Without L"),
        ({"part": "away", "take": "edge"}, "→ `r"),
    ],
)
def test_an_image_is_measured_and_loses_heads_and_edges(link: dict[str, str], words: str) -> None:
    app = open_image("effect", **link)
    assert words in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("few_effects")
def test_of_two_stacks_only_the_encoder_is_measured(answering_bart: Path) -> None:
    for part, words in {
        "heads": "directions each, false discovery rate",
        "away": "**Without L",
        "paths": "lines drawn account for",
    }.items():
        app = open_app("effect", model=str(answering_bart), attention="decoder", part=part)
        assert "read by the encoder alone" in said(app)
        assert "Effect on the" not in said(app)
        app.button(key="show_encoder").click().run()
        assert words in said(app)
        assert alerts(app) == ""
