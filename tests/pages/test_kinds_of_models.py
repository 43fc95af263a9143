"""Pages with every kind of model: they open, and say of it what is true and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.screens.anomalies import source
from core.ui.words.messages import quote
from core.ui.words.pages import TEXT_PAGES
from core.ui.words.pages import find as page_of
from tests.every_part import parts
from tests.opening import open_app
from tests.pages.conftest import SENTENCES, alerts, model_facts, said
from tests.pages.vision import KINDS, model_folder

pytestmark = pytest.mark.slow

TEXT = "The cat sat on the mat, and then it slept."
TARGET = "Where is the cat now? On the mat, where it sleeps."
ANSWER = "Where is it?"


@dataclass(frozen=True)
class Row:
    """A page or part with a kind of model: words on it, and patterns that no words on it have."""

    kind: str
    page: str
    view: dict[str, str] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.kind, self.page, *self.view.values()])


SMALL = ("4 layers × 4 heads × 32 dims · 1.3 M parameters", "For seeing attention, not writing.")
CAUSAL = [Row("causal", page.name, says=SMALL) for page in TEXT_PAGES]

SQUARE = ("home", "vectors", "projection", "anomalies", "patterns", "head_view", "neuron_view")
READS = ("The decoder reads what you typed", "none that comes later")
TOKENS = re.escape(f"The decoder reads what you typed, {quote('W here is it ?')}")
DECODER = [Row("decoder", page, says=READS, never=(TOKENS,)) for page in SQUARE]

NOT_CROSS = ("few keys decide", r"your text \((?!the keys\))")
FEW_QUERIES = "below 12 query tokens only weights, which no text changes, raise a flag"
FLAGGED = [{"anomaly": "flags"}]
UNFLAGGED = [{"anomaly": part} for part in ("moved", "states")]
SHORT = {"decoder": "On."}
CROSS = [
    Row("cross", "query_key", {"part": "heads"}),
    Row("cross", "query_key", {"part": "search"}, says=("no token has both",)),
    *(Row("cross", "anomalies", view, never=(*NOT_CROSS, FEW_QUERIES)) for view in FLAGGED),
    *(Row("cross", "anomalies", view | SHORT, (FEW_QUERIES,), NOT_CROSS) for view in FLAGGED),
    *(Row("cross", "anomalies", view, never=NOT_CROSS) for view in UNFLAGGED),
    *(Row("cross", "anomalies", view | SHORT, never=NOT_CROSS) for view in UNFLAGGED),
]

SILENT = "Layers 1–2, 4–5 and 7–8 do not attend."
MAPS: list[tuple[str, dict[str, str]]] = [
    ("patterns", {"part": "heads"}),
    ("patterns", {"part": "heads", "score": "entropy"}),
    *(("anomalies", {"anomaly": part}) for part in ("flags", "states")),
    ("projection", {}),
    ("query_key", {"part": "heads"}),
    ("model_view", {}),
]
HYBRID = [
    *(Row("hybrid", page, view, says=(SILENT,)) for page, view in MAPS),
    *(Row("encoder", page, view, never=(SILENT,)) for page, view in MAPS),
]

VIEWS: list[tuple[str, dict[str, str]]] = [
    *(
        (page, part)
        for page, part in parts("image")
        if "text" in page_of(page).modalities
        and (page, part) != ("atlas", {"part": "one"})  # it hints at what a click shows
    ),
    *(("model_view", {"pattern": pattern}) for pattern in ("previous", "next", "broad")),
]
# What no page may say of an image; "sentence" and "word" alone stand in the names of sources.
UNTRUE = ("this text", "your text", "the text", "a longer text", "two words", "full stop", "comma")
IMAGE = [Row(kind, page, view, never=UNTRUE) for kind in KINDS for page, view in VIEWS]
QUIET = {"causal", *KINDS}  # with these, nothing is warned of


@pytest.fixture(scope="module")
def links(answering_bart: Path, hybrid_folder: Path) -> dict[str, dict[str, str]]:
    """What a link holds for each kind of model."""
    both = {"model": str(answering_bart), "text": TEXT}
    images = {kind: {"input": "image", "model": model_folder(kind)} for kind in KINDS}
    return images | {
        "encoder": {"text": TEXT},
        "causal": {"model": "bundled/gpt2-novels", "pair": "Nobody came."},
        "hybrid": {"model": str(hybrid_folder), "text": TEXT},
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


@pytest.mark.parametrize("row", [*CAUSAL, *DECODER, *CROSS, *HYBRID, *IMAGE], ids=str)
def test_a_page_opens_and_speaks_truly_of_its_model(
    row: Row, links: dict[str, dict[str, str]]
) -> None:
    link = links[row.kind] | row.view
    app = open_app(row.page, **link)
    assert not app.error
    assert not (row.kind in QUIET and alerts(app))
    assert {key: app.session_state[key] for key in row.view} == row.view
    assert ("input" in link) == (app.query_params.get("input") == "image")
    for each in row.says:
        assert each in said(app) + alerts(app) + model_facts(app)
    for pattern in row.never:
        assert not re.search(pattern, words(app), re.IGNORECASE)


@pytest.mark.parametrize("page", ["anomalies", "patterns"])
@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_corpus_is_not_offered_for_what_the_decoder_does(
    links: dict[str, dict[str, str]], kind: str, page: str
) -> None:
    app = open_app(page, source="corpus", **links[kind])
    assert "This link asks for source `corpus`. Heads can be measured on: `text`." in alerts(app)
    offered = r"the sample corpus \(|measure on the sample corpus|Stability"
    assert not re.search(offered, alerts(app) + said(app))


@pytest.mark.parametrize("page", ["anomalies", "patterns"])
@pytest.mark.usefixtures("small_corpora")
def test_the_corpus_of_an_encoder_decoder_is_that_of_its_encoder(
    links: dict[str, dict[str, str]], page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "sample_sentences", lambda: SENTENCES)
    app = open_app(page, source="corpus", **links["of encoder"])
    shown = said(app) + alerts(app)
    assert "the sample corpus (5 sentences, " in shown
    assert "read by the encoder alone" not in shown
