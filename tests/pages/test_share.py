"""The Python under Share: on every part of every page it runs, and gives the page's numbers."""

from __future__ import annotations

import dataclasses
import functools
import io
import pathlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import core.model
import core.model.running.repeated
from core.analysis.arrays import Floats
from core.analysis.corpus import sample
from core.analysis.images.follow import table as follow_table
from core.analysis.images.follow.following import follow_alike
from core.analysis.projections import joint_embedding
from core.model import box
from core.model.interventions import samples
from core.model.trace import Trace
from core.model.weights import query_key
from core.screens.atlas.corpus.source import OWN_LINES
from core.screens.class_attention import distance
from core.screens.effect import corpus as effect_corpus
from core.screens.query_key import following
from core.ui import corpus_walk, python
from core.ui.python import share
from core.ui.python.writing import to_python
from tests.every_part import parts
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app
from tests.pages.atlases import LINES, paste
from tests.pages.conftest import BOOK, PAIR
from tests.pages.test_every_control import another
from tests.pages.vision import model_folder
from tests.rounding import assert_same_pass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from core.model.catalog import Modality
    from core.ui.python import Line

pytestmark = pytest.mark.slow

# What says which text, model and part is on the screen: these stay, all else is changed.
KEPT = {
    *("model", "text", "pair", "two", "input", "image", "attention", "decoder"),
    *("source", "over", "corpus", "budget"),
    "slow",  # UMAP and t-SNE take ten seconds to begin
}
LONGER = "The dog saw the cat, and it ran away from the cat before it barked."
load = functools.cache(core.model.load)
repeated = functools.cache(lambda model: tuple(core.model.running.repeated.trace_repeated(model)))
twin = functools.cache(core.model.untrained_twin)
similarity = functools.cache(query_key.weight_similarity)


@dataclasses.dataclass
class Page:
    """What the last run of a page printed, drew and offered."""

    name: str = ""
    lines: list[Line] = dataclasses.field(default_factory=list)
    code: str = ""
    files: dict[str, pd.DataFrame] = dataclasses.field(default_factory=dict)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    shown, offer = Page(), st.download_button

    def fill(_link: object) -> None:
        shown.lines, shown.code = python.kept(), to_python(python.kept())

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        if file_name.endswith(".csv"):
            shown.files[file_name] = pd.read_csv(io.StringIO(data()), skiprows=1)
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(share, "fill", fill)
    monkeypatch.setattr(st, "download_button", keep)
    return shown


@pytest.fixture(autouse=True)
def _quick_umap(monkeypatch: pytest.MonkeyPatch) -> None:
    """In UMAP's place, which compiles for half a minute: columns, changed by all that is asked."""

    def fit_umap(rows: Floats, dimensions: int, neighbours: int, seed: int, metric: str) -> Floats:
        return rows[:, :dimensions] * neighbours + seed + len(metric)

    monkeypatch.setattr(joint_embedding, "fit_umap", fit_umap)


@pytest.fixture(autouse=True)
def _two_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Effects over two sentences or images, on the page and in its code."""
    original = samples.samples_of
    for module in (samples, effect_corpus):
        monkeypatch.setattr(module, "samples_of", lambda model: original(model)[:2])


@pytest.fixture
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A sample corpus that is measured at once, on the page and in its code."""
    corpus = sample.sample_corpus()
    few = corpus[:8]
    monkeypatch.setattr(sample, "sample_corpus", lambda: few)
    sample.sample_sentences.cache_clear()
    yield
    monkeypatch.undo()
    sample.sample_sentences.cache_clear()


@pytest.fixture
def small_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box of two images and few permutations, on the page and in its code."""
    import_module("core.ui.frame.image_row")  # takes the whole box before only two are left in it
    two = {name: box.BOX[name] for name in ("three-shapes", "crowd")}
    for module in (box, corpus_walk, distance, following):
        monkeypatch.setattr(module, "BOX", two)
    monkeypatch.setattr(follow_table, "follow_alike", lambda traces, _: follow_alike(traces, 9))


def run(code: str) -> dict[str, Any]:
    """The variables of the printed lines. What depends on the model alone is worked out once."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core.model, "load", load)
        patch.setattr(core.model, "trace_repeated", repeated)
        patch.setattr(core.model, "untrained_twin", twin)
        patch.setattr(query_key, "weight_similarity", similarity)
        exec(code, names)  # noqa: S102 - it is what is tested
    return names


def assert_same(ours: Any, theirs: Any, where: str) -> None:
    """Numbers of another pass up to its rounding, everything else equal."""
    if isinstance(theirs, Trace):
        assert ours.tokens == theirs.tokens, where
        assert_same_pass(ours.queries, theirs.queries, where=where)
    elif isinstance(theirs, np.ndarray) and theirs.dtype.kind in "fc":
        assert_same_pass(ours, theirs, 1, where=where)
    elif isinstance(theirs, np.ndarray):
        np.testing.assert_array_equal(ours, theirs, err_msg=where)
    elif isinstance(theirs, float | np.floating):
        assert_same_pass(ours, theirs, 1, where=where)
    elif (parts := parts_of(theirs)) is not None:
        own = parts_of(ours)
        assert own is not None, where
        assert list(own) == list(parts), where
        for key, part in parts.items():
            assert_same(own[key], part, f"{where}.{key}")
    elif isinstance(theirs, pathlib.Path):
        assert ours.name == theirs.name, where
    elif not callable(theirs):
        assert ours == theirs, where


def parts_of(value: Any) -> dict[Any, Any] | None:
    """What a table, a record or a collection consists of; None for anything else."""
    if isinstance(value, pd.DataFrame):
        return {name: value[name].to_numpy() for name in value}
    if dataclasses.is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, list | tuple) else None


def check(page: Page) -> dict[str, Any]:
    """The printed lines give what the page drew, and its file; returns their variables."""
    names = run(page.code)
    drawn = [line for line in page.lines if line.result is not None]
    for line in drawn:
        assert_same(names[line.name], line.result, f"{line.name} in\n{page.code}\n")
    for name, file in page.files.items():
        table = names[page.lines[-1].name]
        if isinstance(table, pd.DataFrame):
            numbers = {each for each in table if table[each].dtype.kind in "if"}
            held = [each for each in file if file[each].dtype.kind in "if" and each in numbers]
            assert len(held) > 1, name
            np.testing.assert_allclose(
                table[held].to_numpy(float), file[held], rtol=2e-5, atol=2e-6, err_msg=page.code
            )
    return names


def visit(app: AppTest, page: Page, name: str, **state: object) -> AppTest:
    """Go to the page with these controls."""
    if name != page.name:  # by way of one without parts: AppTest sends the last page's once more
        app.switch_page("pages/heatmap.py").run()
        app.switch_page(f"pages/{name}.py").run()
        if "input" in state:
            app.session_state["input"] = state["input"]
            app.run()
        page.name = name
    page.files.clear()
    for key, value in state.items():
        app.session_state[key] = value
    app.run()
    assert not app.exception, (name, state, app.exception)
    return app


def change(app: AppTest, page: Page, *kept: str) -> dict[str, Any]:
    """Set every control but those to another value, together."""
    page.files.clear()
    controls = app.session_state["_controls"]
    changed = {
        key: another(control, app.session_state[key])
        for key, control in controls.items()
        if key not in KEPT | set(kept) and key in app.session_state
    }
    for key, value in changed.items():
        app.session_state[key] = value
    app.run()
    assert not app.exception, (changed, app.exception)
    return changed


def states_of(modality: Modality) -> list[tuple[str, dict[str, object]]]:
    """Every part of every page, without atlases."""
    shown: dict[str, object] = {} if modality == "text" else {"input": modality}
    return [(page, {**shown, **part}) for page, part in parts(modality) if page != "atlas"]


TEXT_STATES: list[tuple[str, dict[str, object]]] = [
    *states_of("text"),
    ("heatmap", {"hide": True}),
    ("vectors", {"show": "play", "draw": "hidden states"}),
    ("head_view", {"weigh": "transformed"}),
    ("head_view", {"weigh": "value", "renorm": True}),
    ("model_view", {"hide": True}),
    ("neuron_view", {"query": "all"}),
    ("effect", {"part": "heads", "over": "corpus"}),
    ("patterns", {"part": "heads", "source": "corpus"}),
    ("patterns", {"part": "one", "whole": "rollout"}),
    ("patterns", {"part": "one", "source": "corpus"}),
    ("patterns", {"part": "alike", "source": "corpus"}),
    ("anomalies", {"anomaly": "flags", "source": "corpus"}),
    ("anomalies", {"anomaly": "moved", "latent": True}),
]
IMAGE_STATES: list[tuple[str, dict[str, object]]] = [
    *states_of("image"),
    ("images", {"head": "mean"}),
    ("images", {"head": "max", "patch": "cls", "direction": "to"}),
    ("images", {"only_patches": True, "direction": "to", "patch": "r2c3", "head": "1"}),
    ("class_attention", {"part": "maps"}),
    ("class_attention", {"part": "distance", "over": "box"}),
    ("effect", {"part": "heads", "over": "corpus"}),
]
KIND_STATES: list[tuple[str, dict[str, object]]] = [
    ("heatmap", {}),
    ("head_view", {}),
    ("patterns", {"part": "heads"}),
    ("patterns", {"part": "one"}),
    ("patterns", {"part": "alike"}),
    ("anomalies", {"anomaly": "flags"}),
    ("anomalies", {"anomaly": "moved", "latent": True}),
]


STAYS = {
    *(
        "part",
        "anomaly",
        "view",
        "span",
        "show",
        "source",
        "weigh",
        "whole",
        "marked",
        "pattern",
        "query",
    ),
    *(
        "over",
        "on",
        "direction",
        "only_patches",
        "prepared",
        "find",
        "first",
        "second",
        "projection",
    ),
}


def check_states(app: AppTest, page: Page, states: list[tuple[str, dict[str, object]]]) -> None:
    """As they open, then with everything else changed."""
    for name, state in states:
        visit(app, page, name, **state)
        check(page)
        change(app, page, *(STAYS & set(state)))
        check(page)


@pytest.mark.usefixtures("few_sentences")
def test_every_part_of_every_page_of_texts(page: Page) -> None:
    check_states(open_app("heatmap", **PAIR), page, TEXT_STATES)


@pytest.mark.usefixtures("small_box")
def test_every_part_of_every_page_of_images(page: Page) -> None:
    app = open_app("images", input="image", model=model_folder())
    check_states(app, page, IMAGE_STATES)


@pytest.fixture(scope="module")
def uneven_bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An encoder-decoder with more layers in its decoder than in its encoder."""
    folder = tmp_path_factory.mktemp("models") / "uneven-bart"
    look = {"stir": 0.5, "tie_word_embeddings": False, "decoder_layers": 3}
    build_with_head("bart", "BartForConditionalGeneration", folder, **look)
    return str(folder)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_kinds_of_attention_of_an_encoder_decoder(
    page: Page, uneven_bart: str, kind: str
) -> None:
    app = open_app("heatmap", model=uneven_bart, text=LONGER, attention=kind, decoder=BOOK)
    check_states(app, page, KIND_STATES)
    visit(app, page, "patterns", part="heads")
    table = check(page)["table"]
    assert len(table) == 4 * (2 if kind == "encoder" else 3)
    assert table["induction"].isna().all() == (kind != "encoder")


@pytest.mark.parametrize("corpus", ["sample", "lines", "box"])
def test_an_atlas_of_a_corpus(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpus: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / OWN_LINES).write_text("\n".join(LINES), "utf-8")
    image = {"input": "image", "model": model_folder()} if corpus == "box" else {}
    app = open_app("atlas", corpus=corpus, budget="1000", part="heads", **image)
    if corpus == "lines":
        paste(app, LINES)
        app.button(key="atlas_build").click().run()
    atlas = check(page)["atlas"]
    assert atlas.points["raw"].shape[2] == 2 * len(atlas.tokens)


def test_what_was_typed_stays_a_text(page: Page) -> None:
    hostile = '\'); raise SystemExit #\n"""{layer}'
    app = open_app("heatmap")
    app.session_state["text"] = hostile
    app.run()
    assert run(page.code)["trace"].shape[0] == 6
    assert repr(hostile) in page.code


def test_share_prints_the_lines() -> None:
    app = open_app("heatmap")
    app.session_state["share"] = True
    app.run()
    (code,) = (each.value for each in app.code if "import" in each.value)
    assert run(code)["frame"].shape == (13, 13)
