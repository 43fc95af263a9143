"""Pages with every kind of model: they open, and say of it what is true and nothing else."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote_plus, urlencode

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.model import Trace, load, trace_text
from core.model.opening import catalog
from core.model.opening.catalog import ModelSpec, bundled_folder, find_entry
from core.ui import cache
from core.ui.words.messages import quote
from core.ui.words.pages import TEXT_PAGES, find_page
from core.vocabulary import labels_of
from tests.model.sweep.tiny import build
from tests.model.translators import build_translator
from tests.opening import open_app, parts
from tests.pages.conftest import alerts, model_facts, said, sent, table_of
from tests.pages.vision import KINDS, model_folder, open_image

Links = dict[str, dict[str, str]]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_effects")]

ATTEND = (3, 6)  # the layers of a hybrid that do, of eight
TEXT = "The cat sat on the mat, and then it slept."
TARGET = "Where is the cat now? On the mat, where it sleeps."
ANSWER = "Where is it?"


class Row(NamedTuple):
    """A page or part with a kind of model: words on it, and patterns that no words on it have."""

    kind: str
    address: str
    says: tuple[str, ...]
    never: tuple[str, ...]


def rows(
    kind: str, *addresses: str, says: tuple[str, ...] = (), never: tuple[str, ...] = ()
) -> list[Row]:
    return [Row(kind, address, says, never) for address in addresses]


SMALL = ("4 layers × 4 heads × 32 dims · 1.3 M parameters", "For seeing attention, not writing.")
NOT_HERE = ("`bundled/minilm` is not installed", SMALL[0].partition(" ·")[0])
SQUARE = ("home", "vectors", "projection", "anomalies", "patterns", "head_view", "neuron_view")
READS = ("The decoder reads what you typed", "none that comes later")
TOKENS = re.escape(f"The decoder reads what you typed, {quote('W here is it ?')}")
NOT_CROSS = ("few keys decide", r"your text \((?!the keys\))")
FEW_QUERIES = "below 12 query tokens only weights, which no text changes, raise a flag"
HOSTILE = ("<img src=x onerror=alert(1)>", "$x$ :red[y] 🙂", "  ", "שלום")
IMG = ("(?<!`)<img",)
LONG = "where+" * 90
CUT = ("The text is longer", "What the decoder reads is longer")
SILENT = "Layers 1–2, 4–5 and 7–8 do not attend."
MAPS = [
    "patterns?part=heads",
    "patterns?part=heads&score=entropy",
    "anomalies?anomaly=flags",
    "anomalies?anomaly=states",
    "projection",
    "query_key?part=heads",
    "model_view",
]
VIEWS = [
    *(
        f"{page}?{urlencode(part)}"
        for page, part in parts("image")
        if "text" in find_page(page).modalities
        and (page, part) != ("atlas", {"part": "one"})  # it hints at what a click shows
    ),
    *(f"model_view?pattern={pattern}" for pattern in ("previous", "next", "broad")),
]
# What no page may say of an image; "sentence" and "word" alone stand in the names of sources.
UNTRUE = ("this text", "your text", "the text", "a longer text", "two words", "full stop", "comma")
ROWS = [
    *rows("causal", *(page.name for page in TEXT_PAGES if page.name != "lessons"), says=SMALL),
    *rows("absent", "home", "effect", "atlas", says=NOT_HERE),
    *rows("decoder", *SQUARE, says=READS, never=(TOKENS,)),
    *rows("cross", *(f"heatmap?decoder={quote_plus(each)}" for each in HOSTILE), never=IMG),
    *rows("cross", "query_key?part=heads"),
    *rows("cross", "query_key?part=search", says=("no token has both",)),
    *rows("cross", "anomalies", never=(*NOT_CROSS, FEW_QUERIES)),
    *rows("cross", "anomalies?decoder=On.", says=(FEW_QUERIES,), never=NOT_CROSS),
    *(
        rows("cross", f"anomalies?anomaly={part}{short}", never=NOT_CROSS)[0]
        for part in ("moved", "states")
        for short in ("", "&decoder=On.")
    ),
    *rows("cross", "vectors", says=("On this page the kinds of attention are",)),
    *rows("cross", f"heatmap?text={LONG}&decoder={LONG}", says=CUT),
    *rows("of encoder", "heatmap?attention=decoder", says=("reads the model's own answer",)),
    *rows("hybrid", *MAPS, says=(SILENT,)),
    *rows("encoder", *MAPS[:2], never=(SILENT,)),
    *(row for kind in KINDS for row in rows(kind, *VIEWS, never=UNTRUE)),
    *rows("vit", "neuron_view", says=("Which dimensions make one patch attend to another?",)),
]
BY_DAY = ("home", "heatmap", "query_key", "patterns", "anomalies")  # other pages: of one kind
QUIET = {"causal", *KINDS}  # with these, nothing is warned of


@pytest.fixture(scope="module")
def links(answering_bart: Path, tmp_path_factory: pytest.TempPathFactory) -> Links:
    """What a link holds for each kind of model; of a hybrid only some layers attend."""
    hybrid = tmp_path_factory.mktemp("hybrid")
    types = ["full_attention" if number in ATTEND else "conv" for number in range(1, 9)]
    build("lfm2", hybrid, num_hidden_layers=8, layer_types=types)
    both = {"model": str(answering_bart), "text": TEXT}
    images = {kind: {"input": "image", "model": model_folder(kind)} for kind in KINDS}
    return images | {
        "encoder": {"text": TEXT},
        "absent": {"budget": "1000"},
        "causal": {"model": "bundled/gpt2-novels", "pair": "Nobody came.", "budget": "1000"},
        "hybrid": {"model": str(hybrid), "text": TEXT},
        "of encoder": both | {"attention": "encoder"},
        "decoder": both | {"attention": "decoder", "decoder": ANSWER},
        "cross": both | {"attention": "cross", "decoder": TARGET},
    }


def words(app: AppTest) -> str:
    """All that the page says before its mathematics and references, and its hints."""
    hints = [button.help or "" for button in app.main.button]
    named = [*app.main.button, *app.main.toggle, *app.main.selectbox]
    labels = [str(each.label) for each in named]
    spoken = [text for text in said(app).split("\n") if "$" not in text and "doi:" not in text]
    return "\n".join([*spoken, alerts(app), *hints, *labels])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=[pytest.mark.nightly] * at_night, id=f"{row.kind} {row.address}")
        for row in ROWS
        for at_night in [row.kind in KINDS[1:] and not row.address.startswith(BY_DAY)]
    ],
)
def test_pages_speak_truly_of_models(
    row: Row, links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    if row.kind == "absent":  # the package that carries the embedded model is not found
        here = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, *rest: None if name.startswith("gt_all") else here(name, *rest),
        )
    page, _, state = row.address.partition("?")
    view = dict(parse_qsl(state))
    link = links[row.kind] | view
    app = open_app(page, **link)
    assert not app.error
    assert not (row.kind in QUIET and alerts(app))
    assert row.kind != "absent" or app.query_params["model"] == "bundled/gpt2-novels"
    assert {key: app.session_state[key] for key in view} == view
    assert ("input" in link) == (app.query_params.get("input") == "image")
    for each in row.says:
        assert each in said(app) + alerts(app) + model_facts(app)
    for pattern in row.never:
        assert not re.search(pattern, words(app), re.IGNORECASE)


@pytest.mark.parametrize("page", ["anomalies", "patterns"])
@pytest.mark.parametrize("kind", ["of encoder", "decoder", "cross"])
@pytest.mark.usefixtures("small_corpora")
def test_the_corpus_is_that_of_the_encoder(links: Links, kind: str, page: str) -> None:
    app = open_app(page, source="corpus", **links[kind])
    offered = kind == "of encoder"
    refusal = "This link asks for source `corpus`. Heads can be measured on: `text`."
    assert (refusal in alerts(app)) != offered
    assert ("the sample corpus (5 sentences, " in said(app) + alerts(app)) == offered
    assert offered or not re.search("on the sample corpus|Stability", alerts(app) + said(app))


def test_a_tampered_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tokenizer differs by one character from the published one's."""
    vocabulary = shutil.copytree(bundled_folder(), tmp_path / "model") / "tokenizer.json"
    vocabulary.write_text(vocabulary.read_text("utf-8").replace("book", "b00k", 1), "utf-8")
    folder_of = catalog.bundled_folder

    def tampered(spec: ModelSpec = catalog.CATALOG[0]) -> Path:
        return vocabulary.parent if spec.name == "bundled/minilm" else folder_of(spec)

    monkeypatch.setattr(catalog, "bundled_folder", tampered)
    for link in ({}, {"model": "bundled/minilm"}):
        cache.loaded_model.clear()  # what an earlier test loaded from the true files
        app = open_app("heatmap", **link)
        assert ("a sheet made for" in alerts(app)) == bool(link)
        assert "is not the published one" in alerts(app)
        assert NOT_HERE[1] in model_facts(app)


# ---- encoder-decoders ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cross(answering_bart: Path) -> Trace:
    trace = trace_text(load(str(answering_bart)), TEXT, target=ANSWER).of_type("cross")
    assert len(trace.tokens) < len(trace.key_tokens)
    return trace


def test_views_have_the_tokens_of_both_stacks(links: Links, cross: Trace) -> None:
    queries, keys = (list(labels_of(each)) for each in (cross.tokens, cross.key_tokens))
    link = links["cross"] | {"decoder": ANSWER, "layer": "2", "head": "3", "key_token": "12"}
    views = {}
    for page, component in (
        *(("heatmap", "table"), ("query_key", "points")),
        *((page, page) for page in ("head_view", "model_view", "neuron_view")),
    ):
        app = open_app(page, **link)
        assert alerts(app) == ""
        assert {key: app.query_params[key] for key in ("attention", "decoder")} == {
            "attention": "cross",
            "decoder": ANSWER,
        }
        views[page] = sent(app, component)
    table, clouds = views["heatmap"], views["query_key"]
    sides = [
        (table["rows"]["labels"], table["columns"]["labels"]),
        *(
            tuple(views[page]["sides"][side]["labels"] for side in ("queries", "keys"))
            for page in ("head_view", "neuron_view")
        ),
    ]
    assert sides == [(queries, keys)] * 3
    tiles = views["model_view"]["tiles"].reshape(cross.attention().shape)
    assert np.abs(tiles - 255 * np.sqrt(cross.attention())).max() <= 0.51
    assert "permitted0" not in views["neuron_view"]  # every pair is
    assert views["neuron_view"]["pairKey"] == 11
    assert app.selectbox(key="query").options[1:] == queries
    assert app.selectbox(key="key_token").options[1:] == keys
    assert (len(clouds["labels"]), len(clouds["keyLabels"])) == (len(queries), len(keys))
    for query, key, weight, _ in clouds["lines"].reshape(-1, 4):
        np.testing.assert_allclose(weight, cross.attention(1, 2)[int(query), int(key)], atol=1e-6)


def test_a_translator_reads_and_writes_the_chosen_languages(tmp_path: Path) -> None:
    _, (source, target, third) = build_translator("nllb", tmp_path)
    link = {"model": str(tmp_path), "text": TEXT, "attention": "cross"}
    app = open_app("heatmap", **link, decoder="the mat")
    menus = {each.label: each for each in app.selectbox if each.label in ("From", "To")}
    assert {label: menu.value for label, menu in menus.items()} == {"From": source, "To": target}

    def languages(app: AppTest) -> tuple[str, str]:
        table = sent(app, "table")
        return table["columns"]["labels"][0], table["rows"]["labels"][1]

    assert languages(app) == (source, target)
    assert languages(menus["To"].set_value(third).run()) == (source, third)
    app = open_app("heatmap", **link, from_language=target, to_language=third)
    assert languages(app) == (target, third), "its own answer begins so, too"
    assert app.query_params["to_language"] == third
    app = open_app("heatmap", **link, to_language="xx_XX")
    assert "asks for to_language" in alerts(app)
    assert languages(app)[1] == target


def test_home_draws_both_stacks_with_the_head_on_the_decoder(links: Links) -> None:
    app = open_app("home", **links["decoder"])
    app.session_state["structure"] = True
    app.run()
    assert not app.exception
    (image,) = app.get("image")
    diagram = b64decode(image.proto.imgs[0].url.partition(",")[2]).decode()
    for text in ("masked self-attention: 4 heads", "keys and values are the encoder’s"):
        assert text in diagram
    assert diagram.count("language-model head") == 1
    cross_maps = "In its cross attention: W_Q is `decoder.layers.0.encoder_attn.q_proj` (32 → 32)"
    assert cross_maps in said(app)
    assert any("(0-1): 2 x BartDecoderLayer" in code.value for code in app.code)
    assert "The weights of its language-model head are" in said(app)


# ---- hybrids: people read the model's numbers ----------------------------------------------------


def layers_offered(app: AppTest) -> list[str]:
    """What the stepper offers."""
    components = [each.proto for each in app.get("bidi_component")]
    (stepper,) = [each for each in components if each.component_name == "headscope_stepper"]
    return [value for value, _ in json.loads(stepper.bytes)["choices"]["layer"]]


@pytest.mark.parametrize("page", ["heatmap", "query_key", "neuron_view", "patterns"])
def test_the_picker_begins_with_a_layer_that_attends(links: Links, page: str) -> None:
    app = open_app(page, **links["hybrid"])
    assert [option for option in layers_offered(app) if option != "mean"] == ["3", "6"]
    assert app.session_state["layer"] == app.query_params["layer"]
    assert app.query_params["layer"] in layers_offered(app)
    assert "Only 2 of its 8 layers attend: 3 and 6." in model_facts(app)
    app = open_app(page, layer="4", **links["hybrid"])
    assert re.search(r"asks for layer `4`\. .* has 2 layers that attend: ", alerts(app))
    assert f"`3`, `6`. `{app.query_params['layer']}` is shown instead." in alerts(app)


def test_a_hybrid_keeps_its_numbers(links: Links, files: dict[str, Callable[[], str]]) -> None:
    for page in ("anomalies", "patterns", "vectors"):
        open_app(page, **links["hybrid"])
        assert sorted(set(table_of(files)["layer"])) == list(ATTEND)
    view = sent(open_app("model_view", **links["hybrid"]), "model_view")
    assert view["layerLabels"] == [3, 6]
    assert view["gaps"] == [[0, "1–2"], [1, "4–5"], [2, "7–8"]]
    view = sent(open_app("head_view", layer="3", **links["hybrid"]), "head_view")
    assert (view["layerLabels"], view["view"]["layer"]) == ([3, 6], "3")


def test_the_head_view_begins_with_the_head_that_the_catalogue_names() -> None:
    scenes = find_entry("bundled/vit-scenes")
    assert scenes is not None
    assert scenes.begin is not None
    view = sent(open_image("head_view", model=scenes.name), "head_view")["view"]
    assert (int(view["layer"]), *view["heads"]) == scenes.begin
    app = open_image("head_view", model=scenes.name, layer="1")
    assert sent(app, "head_view")["view"]["heads"] == []  # a link without heads means all of them
