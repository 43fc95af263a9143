"""The one way to open the app in process: at app.py, on the page and with the state of a link."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from core.ui.address import WATCHED

ROOT = Path(__file__).parents[1]
_compile = cache(partial(ScriptCache.get_bytecode, ScriptCache()))  # once, as a server does
_look = local_script_runner.require_widgets_deltas


def _wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """Instead of a look at the run every millisecond, which takes a tenth of its time."""
    if runner._script_thread is not None:
        runner._script_thread.join(timeout)
    _look(runner, 1)


local_script_runner.require_widgets_deltas = _wait
ScriptCache.get_bytecode = lambda _, path: _compile(path)  # type: ignore[method-assign, misc, assignment]


def open_app(page: str = "home", **parameters: str) -> AppTest:
    """Open a page as a visitor who follows a link with these parameters."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.switch_page(f"pages/{page}.py")
    app.query_params.update(parameters)
    app.session_state[WATCHED] = True  # by the browser, which is not here
    app.run()
    assert not app.exception, app.exception
    return app
