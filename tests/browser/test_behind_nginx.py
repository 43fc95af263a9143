"""The app behind nginx, as the file for deployments sets it up, in a real browser."""

from __future__ import annotations

import base64
import getpass
import hashlib
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import streamlit
from playwright.sync_api import expect

from tests.browser.conftest import Visit, follow, save_file
from tests.looks.visit import wait_until_drawn
from tests.server import ROOT, free_port, running_process, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.conftest import Open, Watch

CONF = (ROOT / ".github" / "deploy" / "nginx.conf").read_text("utf-8")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
# One of each kind: components, figures of plotly (of many points, in space), and an image.
PAGES = ["query_key?part=search", "query_key?projection=PCA 3-D", "images"]


def test_the_one_inline_script_that_may_run_is_streamlits() -> None:
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    scripts = re.findall(r"<script>(.*?)</script>", page.read_text("utf-8"), re.DOTALL)
    hashes = {
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    }
    assert hashes == set(re.findall(r"'sha256-([^']+)'", CONF))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app behind nginx."""
    if NGINX is None:
        pytest.skip("no nginx on this machine")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    local = "--server.address=127.0.0.1"
    with running_process(subprocess.DEVNULL, local, base="/headscope") as (app, _):
        conf = CONF.replace("listen 8080", f"listen 127.0.0.1:{port}")
        conf = conf.replace("http://127.0.0.1:8501", app).replace("/var/log/nginx", str(folder))
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
            conf = conf.replace("http {", f"http {{ {kind}_temp_path {folder}/{kind};", 1)
        file = folder / "nginx.conf"
        # As root it would work as another user, who may not write here.
        start = f"daemon off; pid {folder}/pid; user {getpass.getuser()};\n"
        file.write_text(start + conf, "utf-8")
        command = [NGINX, *map(str, ("-p", folder, "-e", folder / "errors", "-c", file))]
        with subprocess.Popen(command) as process:
            try:
                wait_for(f"http://127.0.0.1:{port}/headscope/_stcore/health", process)
                yield f"http://127.0.0.1:{port}/headscope"
            finally:
                process.terminate()


def test_every_answer_says_what_a_page_may_do_and_metrics_are_closed(site: str) -> None:
    with urllib.request.urlopen(f"{site}/heatmap", timeout=60) as answer:  # noqa: S310 - our own
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    for name in ("_stcore/metrics", "_stcore/metrics/", "/_stcore//metrics", "_stcore/%6detrics"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{site}/{name}", timeout=60)  # noqa: S310 - our own


def test_pages_work_under_it_with_nothing_refused(
    site: str, open_page: Open, watch: Watch, tmp_path: Path
) -> None:
    visit = Visit(page := open_page())
    watch(page, site)
    visit.open(f"{site}/heatmap?layer=4&head=2")
    page.get_by_role("combobox", name="Head").select_option("3")
    follow(page, "layer=4&head=3")
    save_file(page, "Download CSV", tmp_path / "table.csv")
    assert '"head": "3"' in (tmp_path / "table.csv").read_text("utf-8")
    for path in PAGES:
        visit.follow(f"{site}/{path}")
        wait_until_drawn(page)
        expect(page.get_by_test_id("stException")).to_have_count(0)
