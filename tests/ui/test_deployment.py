"""Settings of a deployment, under the project's name and under its first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.ui.site import deployment

if TYPE_CHECKING:
    import pytest


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
