"""Choosing a model: who may use which, and at whose cost; what is refused, what stays usable."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.model.opening import catalog, hub
from core.model.opening import load as loading
from core.model.opening.catalog import CATALOG, bundled_folder
from core.ui import cache
from core.ui.serve import access, fetching
from core.ui.serve.long_work import Shared
from core.ui.words.messages import quote
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts, pick
from tests.stand_in_hub import StandInHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamlit.testing.v1 import AppTest

    Visit = Callable[..., None]

pytestmark = pytest.mark.slow

BUNDLED = ["bundled/minilm", "bundled/gpt2-novels"]
NAMES = [spec.name for spec in catalog.reading("text")]
NOVELS = bundled_folder(CATALOG[1])
STRANGER = "192.0.2.7"
FOUND = "4 layers × 4 heads"  # of the novels
_asked_for_real, _models = hub._model_info, cache.loaded_model


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandInHub]:
    """A hub with the model of the novels, and an empty cache for what is downloaded."""
    monkeypatch.setattr(hub, "_model_info", _asked_for_real)
    monkeypatch.setattr(hub, "ASK_SECONDS", 5.0)
    monkeypatch.setattr(fetching, "_now", Shared(None))
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    access._check_public.clear()
    _models.clear()
    with running_hub() as known:
        known.publish("some/novels", NOVELS)
        yield known


@pytest.fixture
def visit(connect: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A visitor from elsewhere comes to a site with these settings."""

    def come(models: str | None = "any", ip: str = STRANGER, **settings: str) -> None:
        if models is not None:
            monkeypatch.setenv("HEADSCOPE_MODELS", models)
        for name, value in settings.items():
            monkeypatch.setenv(f"HEADSCOPE_{name}", value)
        connect(ip)

    return come


def box(app: AppTest) -> Any:
    return app.selectbox(key="model")


def names_in_box(app: AppTest) -> list[str]:
    """What stands between the sign and the size."""
    return [label.split(" ·")[0].split()[-1] for label in box(app).options]


# ---- what is offered --------------------------------------------------------------------------


def test_without_a_connection_nobody_sits_at_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the tests' own connection; the app's own reading finds none
    app = open_app()
    assert names_in_box(app) == BUNDLED


@pytest.mark.parametrize(
    ("words", "ip", "names", "free", "says"),
    [
        (None, "127.0.0.1", NAMES, True, "any Hugging Face id (owner/name) or a local folder"),
        (None, STRANGER, BUNDLED, False, "run the app on your own machine"),
        ("catalogue", STRANGER, NAMES, False, ""),
        ("any", STRANGER, NAMES, True, ""),
        ("gpt2, bundled/minilm", "127.0.0.1", ["gpt2", "bundled/minilm"], False, ""),
    ],
)
def test_the_operators_settings_apply_to_everybody(
    visit: Visit, words: str | None, ip: str, names: list[str], free: bool, says: str
) -> None:
    visit(words, ip)
    app = open_app("home", model="bundled/minilm")
    assert names_in_box(app) == names
    assert box(app).proto.accept_new_options is free
    assert says in (box(app).help or "")
    assert not app.exception


def test_ones_own_model_opens_first_and_a_wrong_one_is_said(
    monkeypatch: pytest.MonkeyPatch, connect: Callable[..., None], tmp_path: Path
) -> None:
    images = bundled_folder(next(each for each in CATALOG if each.name == "bundled/vit-scenes"))
    connect(STRANGER)
    for own, page in ((NOVELS, "home"), (images, "images")):
        monkeypatch.setenv("HEADSCOPE_MODEL", os.path.relpath(own))
        app = open_app(page)
        assert box(app).value == app.query_params["model"] == str(own.resolve())
        assert not alerts(app)
    assert box(open_app("home")).value == BUNDLED[0]
    monkeypatch.setenv("HEADSCOPE_MODEL", str(tmp_path / "missing"))
    assert "There is no folder" in alerts(app := open_app("home"))
    assert len(names_in_box(app)) == 3
    assert app.main.header  # a stand-in is shown


# ---- folders ----------------------------------------------------------------------------------


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths whose existence was asked for."""
    paths: list[str] = []

    def noted(look: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(path: Any, *rest: Any, **options: Any) -> Any:
            paths.append(os.fspath(path) if not isinstance(path, int) else "")
            return look(path, *rest, **options)

        return wrapped

    for name in ("stat", "lstat", "scandir", "listdir", "readlink", "access"):
        monkeypatch.setattr(os, name, noted(getattr(os, name)))
    return paths


@pytest.mark.parametrize("words", ["any", None])
def test_from_elsewhere_no_folder_is_looked_at_and_the_answer_is_the_same_for_all(
    visit: Visit, loaded: list[str], looked_at: list[str], tmp_path: Path, words: str | None
) -> None:
    visit(words)
    present, missing = str(tmp_path / "present"), str(tmp_path / "missing")
    Path(present).mkdir()
    looked_at.clear()
    answers = set()
    for name in (present, missing, "/etc", "~root", "../core/model", "\\\\host\\x"):
        said = alerts(open_app("home", model=name))
        assert ("and this site opens no folder of that name" in said) == (words == "any")
        assert words or "This link asks for model" in said
        assert words or "This site offers" in said
        answers.add(said.replace(quote(name).replace("\\", ""), "it"))
    assert len(answers) == 1
    assert " it" in f" {answers.pop()}"
    assert set(loaded) == {"bundled/minilm"}
    assert not {present, missing} & set(looked_at)
    visit(words, "127.0.0.1")
    assert "There is no folder" in alerts(open_app("home", model=missing))
    assert "holds no model" in alerts(open_app("home", model=present))
    assert missing in looked_at  # what is not looked at here would be seen


def test_an_id_that_is_a_folder_of_the_server_is_asked_of_the_hub(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, stand_in: StandInHub, tmp_path: Path
) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "folder").symlink_to(NOVELS)
    monkeypatch.chdir(tmp_path)
    app = open_app("home", model="some/folder")
    assert FOUND in model_facts(app)  # at the machine itself
    visit()
    app = open_app("home", model="some/folder")
    assert "There is no public model called `some/folder`" in alerts(app)
    assert "6 layers × 12 heads" in model_facts(app)
    assert any("/api/models/some/folder" in path for _, path, _ in stand_in.asked)


@pytest.mark.parametrize("words", [None, "any"])
def test_below_a_folder_that_the_operator_names_models_open_for_all(
    visit: Visit, loaded: list[str], tmp_path: Path, words: str | None
) -> None:
    opened, other = tmp_path / "opened", tmp_path / "other"
    opened.mkdir()
    other.mkdir()
    (opened / "novels").symlink_to(NOVELS)
    visit(words, FOLDERS=os.pathsep.join([str(other), str(NOVELS.parent)]))
    app = open_app("home", model=str(NOVELS))
    assert FOUND in model_facts(app)
    visit(words, FOLDERS=str(opened))
    loaded.clear()
    for name in (
        str(NOVELS),  # beside what is opened
        str(opened / "novels"),  # a link that leads out of it
        str(opened / ".." / "other"),
        f"{opened}x",
        "novels",
        "opened/novels",
    ):
        app = open_app("home", model=name)
        assert app.warning
    assert not [name for name in loaded if "novels" in name and Path(name).is_absolute()]
    if words is None:  # no more is said of the hub than before
        assert "This site does not offer `some/model`" in alerts(open_app(model="some/model"))
        assert "a folder that this site has opened to visitors" in box(app).help


# ---- the hub ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ip", "switch", "token"),
    [
        (STRANGER, "0", None),
        (STRANGER, "1", "Bearer hf_secret"),
        ("127.0.0.1", "", "Bearer hf_secret"),
    ],
)
def test_the_operators_token_goes_out_for_visitors_only_if_the_operator_says_so(
    visit: Visit, stand_in: StandInHub, ip: str, switch: str, token: str | None
) -> None:
    visit("any", ip, HUB_TOKEN=switch)
    app = open_app("home", model="some/novels")
    assert "3 MB must be downloaded" in alerts(app)
    app.button(key="model_way_out").click().run()
    assert FOUND in model_facts(app)
    assert stand_in.tokens == {token}


@pytest.mark.usefixtures("stand_in")
def test_a_model_of_the_cache_that_the_hub_shows_to_its_owner_only_is_not_for_visitors(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, loaded: list[str]
) -> None:
    known = hub.cached_folder
    monkeypatch.setattr(
        hub, "cached_folder", lambda repo: NOVELS if repo == "my/private" else known(repo)
    )
    visit()
    app = open_app("home", model="my/private")
    assert "There is no public model called `my/private`" in alerts(app)
    assert "my/private" not in loaded
    visit(ip="127.0.0.1")
    assert FOUND in model_facts(open_app("home", model="my/private"))


def test_a_model_too_large_to_download_has_no_button(visit: Visit, stand_in: StandInHub) -> None:
    visit(DOWNLOAD_MB="2")
    app = open_app("home", model="some/novels")
    assert "3 MB would have to be downloaded, and this site takes 2 MB at most" in alerts(app)
    assert not [button for button in app.button if button.key == "model_way_out"]
    visit(ip="127.0.0.1")
    app = open_app("home", model="some/novels")
    assert app.button(key="model_way_out").label == "Download"
    assert stand_in.fetched == []


def test_an_interrupted_download_is_reported_under_the_name_as_typed(stand_in: StandInHub) -> None:
    del stand_in.files["some/novels/model.safetensors"]
    app = open_app("home", model="some/novels")
    app.button(key="model_way_out").click().run()
    assert "The download of `some/novels` was interrupted" in alerts(app)
    assert app.button(key="model_way_out").label == "Try again"


def test_a_visitor_who_waits_is_told_so(
    stand_in: StandInHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []
    progress = fetching._progress

    def noted(model: hub.HubModel) -> tuple[float, str]:
        share, text = progress(model)
        words.append(text)
        assert len(words) > 1 or not stand_in.fetched
        ahead.close()
        return share, text

    monkeypatch.setattr(fetching, "_progress", noted)
    slow = hub.HubModel("slow/model", "", (("model.safetensors", 2_000_000),))
    with ExitStack() as ahead:
        ahead.enter_context(fetching._now.turn(lambda: None))
        fetching._now.kept = slow, 1_000_000
        app = open_app("home", model="some/novels")
        app.button(key="model_way_out").click().run()
    assert words[0].startswith("Another model is being downloaded (1.0 of 2.0 MB)")
    assert words[-1].startswith("Downloading: ")
    assert FOUND in model_facts(app)


@pytest.mark.parametrize(("switch", "device"), [("1", "cuda"), ("0", "cuda"), ("1", "cpu")])
def test_half_precision_needs_the_switch_and_a_card_and_is_said(
    switch: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card is only said to be there: the network runs on the processor."""
    folder = str(build(replace(FAMILIES["llama"], dtype=torch.bfloat16), tmp_path))
    monkeypatch.setenv("HEADSCOPE_HALF", switch)
    devices = chain([device], repeat("cpu"))  # for the decision, and for the load itself
    monkeypatch.setattr("core.model.opening.load.pick_device", lambda: next(devices))
    facts = model_facts(open_app(model=folder))
    half = (switch, device) == ("1", "cuda")
    assert ("**Numbers checked in bfloat16**" in facts) == half
    assert ("**Numbers checked** (error" in facts) != half


def test_a_failure_is_remembered_until_someone_tries_again(loaded: list[str]) -> None:
    app = open_app("heatmap", model="gone/model")
    pick(app, layer="2")
    pick(app, layer="3")
    assert loaded.count("gone/model") == 1


def test_a_slow_load_does_not_hold_up_those_whose_model_is_loaded() -> None:
    open_app("heatmap")
    with loading._LOAD_LOCK:  # as while another visitor's model is loaded
        app = open_app("heatmap", text="Another text.")
    assert "6 layers × 12 heads" in model_facts(app)
