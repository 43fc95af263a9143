"""Functions of the components' scripts, for tests that run them in a page of their own."""

from __future__ import annotations

import base64
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from core.components.scripts import ROOT, constant, ordered, scoped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

Run: TypeAlias = "Callable[..., Any]"  # of a function's body and the values it names

_EVALUATE = """([body, values, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
  const given = { ...values, data: bytes.length ? unpack(bytes) : null }
  return new Function(...Object.keys(given), body)(...Object.values(given))
}"""


def as_globals(*scripts: str) -> str:
    """A script that makes global what these scripts, such as "shared/scales", export."""
    paths = [ROOT / f"{script}.js" for script in scripts]
    modules = dict.fromkeys(each for path in paths for each in ordered(path))
    exports = ", ".join(map(constant, paths))
    return "\n".join([*map(scoped, modules), f"Object.assign(globalThis, {exports})"])


@contextmanager
def running(browser: Browser, *scripts: str) -> Iterator[Run]:
    """Run the body of a function of named values with these scripts.

    `data`, if given, are bytes that the function gets as the component would: unpacked.
    """
    page = browser.new_page()
    page.add_script_tag(content=as_globals("shared/packed", *scripts))

    def run(body: str, *, data: bytes = b"", **values: object) -> Any:
        return page.evaluate(_EVALUATE, [body, values, base64.b64encode(data).decode()])

    yield run
    page.close()
