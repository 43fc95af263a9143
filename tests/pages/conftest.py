"""The app in process, always started at app.py."""

from __future__ import annotations

import functools
import inspect
import io
import json
import os
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from core.analysis.images import selectivity
from core.model import Effects, LoadedModel
from core.model.interventions import exchange as exchanging
from core.model.interventions import reference
from core.model.interventions.heads import effects as effects_of
from core.model.opening import hub
from core.model.opening import load as loading
from core.model.trace import kept
from core.screens.atlas import matrix
from core.screens.atlas.corpus import building
from core.screens.atlas.corpus.entry import AtlasEntry, keep_atlas
from core.screens.atlas.corpus.source import Material
from core.screens.atlas.head import single
from core.screens.compare import exchange, picture
from core.screens.compare import measured as compared
from core.screens.heads import effects, effects_corpus, measured
from core.ui import cache
from core.ui.lessons import of_heads, saying
from core.ui.serve import visitor
from tests.components.received import received

# Each AppTest reads the metadata of every installed package, most of the time a page takes.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)
_models: dict[tuple[object, ...], LoadedModel] = {}
ATLASES: dict[tuple[str, str], AtlasEntry] = {}  # of the sample corpus


@pytest.fixture(scope="module", autouse=True)
def _what_is_slow_is_made_once() -> Iterator[None]:
    """Where a server keeps two models and three atlases, these tests keep those of the app."""
    load, make = loading._load, building._make

    def load_once(name: str, folder: Path, *on_stage: Any, **options: Any) -> LoadedModel:
        if not name.startswith("bundled/"):
            return load(name, folder, *on_stage, **options)
        key = name, folder, *options.items()
        if key not in _models:
            _models[key] = load(name, folder, *on_stage, **options)
        return _models[key]

    def make_once(
        model: LoadedModel, corpus: Material, budget: int, request: tuple[str, str]
    ) -> AtlasEntry:
        if not corpus.is_ours:
            return make(model, corpus, budget, request)
        if request not in ATLASES:
            ATLASES[request] = make(model, corpus, budget, request)
        return keep_atlas(request, ATLASES[request])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_load", load_once)
        patch.setattr(building, "_make", make_once)
        yield


@pytest.fixture(scope="module")
def few_effects() -> Iterator[None]:
    """Effects on few tokens, of one head where all are asked for, beside two random directions.

    What the others get is up to twice as much. Of what heads follow, few permutations.
    """
    samples_of = reference.samples_of

    def few(run: Callable[..., Effects]) -> Callable[..., Effects]:
        def run_few(*given: Any, draws: int = 0, heads: Any = None, **options: Any) -> Effects:
            found = run(*given, draws=min(draws, 2), heads=heads or [(0, 0)], **options)
            if heads:
                return found
            value, shape = found.values[0, 0], found.draws.shape[1:]  # noqa: PD011 - no data frame
            grow = np.linspace(1, 2, shape[0] * shape[1]).reshape(shape)
            return replace(found, values=value * grow, draws=found.draws[:, :1, :1] * grow)

        return run_few

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effects, "_run", few(effects._run))
        patch.setattr("core.model.effects", few(effects_of))
        patch.setattr(
            selectivity, "selectivity", functools.partial(selectivity.selectivity, permutations=9)
        )
        patch.setattr(effects_corpus, "effects", few(effects_of))
        patch.setattr(effects, "MAX_TOKENS", 16)  # no text of other tests is cut
        patch.setattr(effects_corpus, "SAMPLE_DRAWS", 2)
        patch.setattr(reference, "TEXTS", 6)
        patch.setattr(effects_corpus, "samples_of", lambda model: samples_of(model)[:2])
        patch.setattr(exchange, "exchange", functools.partial(exchanging.exchange, draws=2))
        patch.setattr(exchange, "VARIANTS", 1)
        patch.setattr(compared, "_SAMPLES", 6)
        for module in (compared, exchange, picture):
            patch.setattr(module, "MAX_TOKENS", 24)
        for module, name in (
            (cache, "followed"),
            (of_heads, "_effects"),
            (of_heads, "_grid"),
            (saying, "_said"),
        ):  # what is kept of these few is not kept for other tests
            patch.setattr(module, name, kept(inspect.unwrap(getattr(module, name))))
        yield
    for numbers in (
        compared.place_of,
        effects._place,
        effects.effects_of_head,
        effects_corpus._place,
        reference._kept,
    ):
        numbers.clear()


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a hub outside this machine: the hub never answers."""
    monkeypatch.setattr(hub, "ASK_SECONDS", 0.2)
    monkeypatch.setattr(hub, "_model_info", lambda _repo, _token: time.sleep(9))


@pytest.fixture(autouse=True)
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say where the visitor sits, by default at this machine. Nothing is set by an operator."""
    for name in ("MODEL", "MODELS", "FOLDERS", "HUB_TOKEN", "DOWNLOAD_MB"):
        monkeypatch.delenv(f"HEADSCOPE_{name}", raising=False)
    monkeypatch.setenv("HEADSCOPE_ATLASES", os.environ.get("HEADSCOPE_ATLASES", ""))

    def connect_from(ip: str, **headers: str) -> None:
        sent = tuple({"Host": "localhost:8501", **headers}.items())
        monkeypatch.setattr(visitor, "connection", lambda: (ip, sent))

    connect_from("127.0.0.1")
    return connect_from


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that the cache of models was asked for."""
    names: list[str] = []
    working = cache.model

    def noted(name: str, *modality: Any) -> object:
        names.append(name)
        return working(name, *modality)

    monkeypatch.setattr(cache, "model", noted)
    return names


BOOK = "Oh, this book? I've enjoyed it."
PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}
SENTENCES = (
    "The cat saw the cat.",
    "She said that he was late.",
    "One, two, three.",
    "Where did the old man go?",
    "The keys to the cabinet are here.",
)


@pytest.fixture
def small_corpora(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample corpus that the patterns page measures at once."""
    monkeypatch.setattr(measured, "sample_sentences", lambda: SENTENCES)


def alerts(app: AppTest) -> str:
    """What boxes say, as a person reads it; nothing has failed."""
    assert not app.exception
    boxes = [*app.error, *app.warning, *app.info]
    return "\n".join(str(box.value) for box in boxes).replace("\\", "")


def said(app: AppTest) -> str:
    """What text and captions of the page say, with plain spaces; nothing has failed."""
    assert not app.exception
    texts = [*app.main.markdown, *app.main.caption, *app.main.text]
    return "\n".join(str(text.value) for text in texts).replace("\N{NO-BREAK SPACE}", " ")


def sent(app: AppTest, component: str) -> dict[str, Any]:
    """What a component gets, as settings and flat arrays."""
    return received(payload(app, component))


def payload(app: AppTest, component: str) -> bytes:
    """The same as the bytes that are sent."""
    (data,) = (
        each.proto.bytes
        for each in app.get("bidi_component")
        if each.proto.component_name == f"headscope_{component}"
    )
    return bytes(data)


def model_facts(app: AppTest) -> str:
    """What is said of the model, behind its name."""
    chips = [
        each
        for each in app.get("popover")
        if isinstance(each, Block) and any(box.key == "model" for box in each.selectbox)
    ]
    return " ".join(str(caption.value) for chip in chips for caption in chip.caption)


def pick(app: AppTest, **values: str) -> None:
    """Pick a layer or a head, as the stepper does."""
    for key, value in values.items():
        app.session_state[key] = value
    app.run()


def charts(app: AppTest) -> list[dict[str, Any]]:
    """What Plotly gets of every chart."""
    return [json.loads(each.proto.spec) for each in app.get("plotly_chart")]


def numbers(packed: Any) -> np.ndarray:
    """An array of a chart, as it has them: in base64 where they are many."""
    if not isinstance(packed, dict):
        return np.array(packed, dtype=float)
    flat = np.frombuffer(b64decode(packed["bdata"]), packed["dtype"])
    return flat.reshape([int(size) for size in str(packed.get("shape", len(flat))).split(",")])


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], str]]:
    """What makes each file that a page offers, by its name; the last one offered last."""
    offered: dict[str, Callable[[], str]] = {}
    offer = st.download_button

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        offered.pop(file_name, None)
        offered[file_name] = data
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return offered


def table_of(files: dict[str, Callable[[], str]]) -> pd.DataFrame:
    """The last CSV file that was offered, as it is read below its first line."""
    *_, make = (make for name, make in files.items() if name.endswith(".csv"))
    return pd.read_csv(io.StringIO(make()), skiprows=1)


def press_example(app: AppTest, page: str, title: str) -> None:
    """Press the example of a page that has that title."""
    assert any(str(button.key).startswith(f"{page}_preset") for button in app.button)
    next(button for button in app.button if button.label == title).click().run()
    assert not app.exception


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every cloud of one head of an atlas, and every matrix of all heads, that was drawn."""
    drawn: list[Any] = []
    for module in (single, matrix):
        monkeypatch.setattr(module, "show_points", lambda cloud, **_: drawn.append(cloud))
    return drawn
