"""Settings of a deployment, under the project's name and under its first one."""

from __future__ import annotations

import pytest

from core.model import catalog
from core.ui.site import deployment
from core.ui.site.access import read_offer


def test_a_setting_of_the_first_name_is_read_and_the_log_says_the_new_one_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    deployment._log_old_name.cache_clear()
    monkeypatch.delenv("HEADSCOPE_TOKENS", raising=False)
    monkeypatch.setenv("ATTENTION_ATLAS_TOKENS", "1000")
    assert [deployment.setting("TOKENS") for _ in range(3)] == ["1000"] * 3
    said = [record.getMessage() for record in caplog.records]
    assert said == ["ATTENTION_ATLAS_TOKENS is now called HEADSCOPE_TOKENS."]


def test_the_present_name_comes_first_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HEADSCOPE_TOKENS", "2000")
    monkeypatch.setenv("ATTENTION_ATLAS_TOKENS", "1000")
    assert deployment.setting("TOKENS") == "2000"
    assert not caplog.records


CATALOGUE = tuple(spec.name for spec in catalog.reading("text"))


@pytest.mark.parametrize(
    ("setting", "names", "any_hub_id"),
    [
        ("", (), False),
        (" , ", (), False),
        (" gpt2, bundled/minilm ,gpt2", ("gpt2", "bundled/minilm"), False),
        (" Catalogue ", CATALOGUE, False),
        ("ANY", CATALOGUE, True),
        ("my/model, catalogue", ("my/model", *CATALOGUE), False),
        ("my/model,any", ("my/model", *CATALOGUE), True),
        ("anything", ("anything",), False),
    ],
)
def test_an_operator_lists_models(setting: str, names: tuple[str, ...], any_hub_id: bool) -> None:
    assert read_offer(setting) == (names, any_hub_id)
