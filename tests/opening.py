"""The one way to open the app in process: at app.py, on the page and with the state of a link."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.ui.address import WATCHED

ROOT = Path(__file__).parents[1]


def open_app(page: str = "home", **parameters: str) -> AppTest:
    """Open a page as a visitor who follows a link with these parameters."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.switch_page(f"pages/{page}.py")
    app.query_params.update(parameters)
    app.session_state[WATCHED] = True  # by the browser, which is not here
    app.run()
    assert not app.exception, app.exception
    return app
