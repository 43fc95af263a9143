"""Answers that come late, as on a loaded machine or a slow line: no picture is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import Open, Watch, arrive, choose, follow
from tests.looks.visit import wait_until_drawn
from tests.tools.bench.models import sentence_of

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocketRoute

MESSAGE_BYTES = 10_000  # from which Streamlit's client keeps a message, to be named instead of sent


class Line:
    """The way from the server to a page, which can be held up."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.held: list[bytes] | None = None  # what does not arrive for now
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)
        page.goto(address)
        arrive(page)

    def _connect(self, browser: WebSocketRoute) -> None:
        self.browser, server = browser, browser.connect_to_server()
        browser.on_message(server.send)
        server.on_message(self._pass_on)

    def _pass_on(self, message: str | bytes) -> None:
        assert isinstance(message, bytes)
        if self.held is None:
            self.browser.send(message)
        else:
            self.held.append(message)

    def wait_for_a_run(self) -> None:
        """Wait until the server has ended one more run of the page, whose answer is held."""
        before = self._runs()
        while self._runs() == before:
            self.page.wait_for_timeout(20)

    def _runs(self) -> int:
        held = [ForwardMsg.FromString(each).WhichOneof("type") for each in self.held or []]
        return held.count("script_finished")

    def release(self) -> None:
        """Let everything arrive that was held."""
        held, self.held = self.held or [], None
        for message in held:
            self.browser.send(message)


def test_a_picture_that_comes_back_is_shown_though_answers_are_late(
    app: str, open_page: Open, watch: Watch
) -> None:
    page = open_page()
    watch(page, app)
    line = Line(page, f"{app}/neuron_view?layer=3&head=5&text={sentence_of(40)}")
    after = page.get_by_role("button", name="Next head")
    before = page.get_by_role("button", name="Previous head")
    for head in (6, 7):
        after.click()
        follow(page, f"layer=3&head={head}")
    line.held = []
    for button in (after, before, before):  # the last one asks for what was shown before
        button.click()
        line.wait_for_a_run()
    assert max(map(len, line.held or [])) > MESSAGE_BYTES
    line.release()
    follow(page, "layer=3&head=6")
    after.click()
    follow(page, "layer=3&head=7")


@pytest.mark.nightly
@pytest.mark.parametrize("answered_first", [False, True])
def test_neither_of_two_picks_is_lost_though_answers_are_late(
    app: str, open_page: Open, watch: Watch, *, answered_first: bool
) -> None:
    """The second message brings the values of all menus from before the first pick."""
    page = open_page()
    watch(page, app)
    line = Line(page, f"{app}/neuron_view?layer=4&head=2&query=all&text={sentence_of(20)}")
    query = page.locator(".row .asking").nth(10)
    after = page.get_by_role("button", name="Next head")
    for head, (picks, answered) in enumerate(
        [((query, after), answered_first), ((after, query), not answered_first)], start=3
    ):
        wait_until_drawn(page)  # a press on a row that is drawn anew before its release is none
        line.held = []
        for pick in picks:
            pick.click()
            if answered:  # by the server; the browser has not heard of it
                line.wait_for_a_run()
        if not answered:
            line.wait_for_a_run()
        line.release()
        follow(page, f"layer=4&head={head}&query=11&")
        expect(page.get_by_role("combobox", name="Query token")).not_to_have_value("all at once")
        expect(page.get_by_role("combobox", name="Head")).to_have_value(str(head))
        # A menu still takes back what was picked in the picture.
        choose(page, "Query token", "all at once")
        follow(page, f"layer=4&head={head}&query=all&")
