"""Node, which runs functions of the components' scripts for tests that know the right numbers."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from core.components.scripts import ROOT

Run: TypeAlias = Callable[..., Any]  # of a function's body and the values it names
RunWith: TypeAlias = Callable[..., Run]  # of scripts such as "shared/scales"

_RUNNER = str(Path(__file__).with_name("runner.js"))


@pytest.fixture(scope="session")
def _runner(node: str) -> Iterator[subprocess.Popen[str]]:
    # No package.json says that the scripts are modules.
    command = [node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", _RUNNER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as process:
        yield process  # which ends when its input does


@pytest.fixture(scope="session")
def run_with(_runner: subprocess.Popen[str]) -> RunWith:
    """Names of scripts -> what runs the body of a function of named values with their exports.

    `data`, if given, are bytes that the function gets as the component would: unpacked.
    """

    def run_with(*scripts: str) -> Run:
        paths = [(ROOT / f"{script}.js").as_uri() for script in scripts]

        def run(body: str, *, data: bytes = b"", **values: object) -> Any:
            encoded = b64encode(data).decode()
            request = {"scripts": paths, "body": body, "values": values, "data": encoded}
            assert _runner.stdin is not None
            assert _runner.stdout is not None
            print(json.dumps(request), file=_runner.stdin, flush=True)
            answer = json.loads(_runner.stdout.readline())
            assert "error" not in answer, answer["error"]
            return answer["result"]

        return run

    return run_with


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, run_with: RunWith) -> Run:
    """What runs a body with the exports of the module's `SCRIPTS`."""
    return run_with(*request.module.SCRIPTS.split())
