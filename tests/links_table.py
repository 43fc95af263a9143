"""The table of all link parameters, made from the controls that pages declare.

    python -m tests.links_table

writes ``.github/LINKS.md``; a test says when it is out of date.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest import mock

from core.ui.site import visitor
from tests.analysis.atlas.folders import write_folder
from tests.opening import ROOT, open_app
from tests.pages.atlases import small

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from core.ui.controls import Control

    Rows = dict[str, dict[str, str]]  # by page, what each parameter may be

LINKS = ROOT / ".github" / "LINKS.md"
_PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}
_PREPARED = {"corpus": "prepared", "prepared": "large"}
# Every page and part, with what makes more of its controls appear.
SCREENS: list[tuple[str, dict[str, str]]] = [
    ("home", _PAIR),
    ("heatmap", {"hide": "1"}),
    ("vectors", {"show": "all layers"}),
    ("vectors", {"show": "one layer"}),
    ("projection", {}),
    ("head_view", _PAIR),
    ("model_view", {**_PAIR, "hide": "1"}),
    ("neuron_view", _PAIR),
    ("query_key", {"part": "picture", "span": "one head", "join": "all above"}),
    ("query_key", {"part": "picture", "span": "all heads", "sizes": "1", "labels": "0"}),
    ("query_key", {"part": "trust"}),
    ("query_key", {"part": "search"}),
    ("query_key", {"part": "heads", "dot": "3,5"}),
    ("images", {}),
    ("class_attention", {"part": "maps"}),
    ("class_attention", {"part": "distance"}),
    *(("patterns", {"part": part}) for part in ("heads", "one", "alike", "pronouns")),
    ("patterns", {"part": "one", "source": "corpus"}),
    *(("anomalies", {"anomaly": part}) for part in ("flags", "norms", "first", "moved", "states")),
    ("atlas", {"budget": "1000", "part": "heads"}),
    ("atlas", {"budget": "1000", "part": "one", "token": "5"}),
    ("atlas", {"budget": "1000", "part": "words"}),
    ("atlas", {"budget": "1000", "part": "positions"}),
    ("atlas", {"budget": "1000", "part": "alike"}),
    ("atlas", {"budget": "1000", "part": "trust"}),
    ("atlas", {**_PREPARED, "part": "heads"}),
    ("atlas", {**_PREPARED, "part": "one"}),
]
_HEAD = """# What a link can hold

The address bar always holds the state that is on the screen; "Share" copies it.
An impossible value is reported and replaced; a control that is not on the screen is not in the
link. Numbers of layers, heads and positions of tokens begin at 1. Beside these, `packed` carries a
text that would make the address longer than 7,500 bytes. With an encoder-decoder, `attention` is
`encoder`, `decoder` or `cross`, and `decoder` is what its decoder reads (empty: the model's own
answer). In cross attention, positions of queries (`from`, `query`, `without`) count the decoder's
tokens, those of keys (`to`, `key_token`, `without_keys`) the text's. Made from the controls that
the pages declare, with the embedded model and its first sentence, by `python -m tests.links_table`.
"""
_MAX_NAMED = 9  # options; of more, the first two and the last


@contextmanager
def prepared_site() -> Iterator[None]:
    """A site that offers a large atlas."""
    with TemporaryDirectory() as folder:
        write_folder(small(), Path(folder) / "large.atlas", [(0, 1), (2, 3)], (1, 2))
        with mock.patch.dict(os.environ, HEADSCOPE_ATLASES=folder):
            yield


def rows_of(declared: Iterable[tuple[str, dict[str, Control]]]) -> Rows:
    """The parameters of every page over all its parts, in the order they are declared."""
    pages: Rows = {}
    for page, controls in declared:
        rows = pages.setdefault(page, {})
        for key, value in ((key, _values_of(control)) for key, control in controls.items()):
            rows[key] = max(rows.get(key, ""), value, key=len)
    of_texts = [rows for rows in pages.values() if "text" in rows]
    shared = {*set.intersection(*map(set, of_texts)), "pair", "image", "side"}
    every = {key: value for rows in pages.values() for key, value in rows.items() if key in shared}
    own = {
        page: {key: value for key, value in rows.items() if key not in shared}
        for page, rows in pages.items()
    }
    return {"every page": dict(sorted(every.items())), **own}


def to_markdown(pages: Rows) -> str:
    """The page of :data:`LINKS`."""
    parts = [_HEAD]
    for page, rows in pages.items():
        if rows:
            title = "Every page" if page == "every page" else f"`/{page}`"
            lines = (f"| `{key}` | {value} |" for key, value in rows.items())
            parts.append(
                "\n".join([f"## {title}\n", "| parameter | values |", "|---|---|", *lines])
            )
            parts[-1] += "\n"
    return "\n".join(parts)


def _values_of(control: Control) -> str:
    if control.key == "prepared":
        return "the name of an atlas that the site offers"
    if control.kind == "flag":
        return "`1` (usual), `0`" if control.default else "`0` (usual), `1`"
    if control.kind == "number":
        low, high = control.allowed
        return f"a number from {low:g} to {high:g}, usually {control.default:g}"
    if control.kind == "text":
        return "text"
    options = [f"`{option}`" for option in control.allowed if option != ""]
    if len(options) > _MAX_NAMED:
        options = [*options[:2], "…", options[-1]]
    named = ", ".join(options)
    if control.kind == "tokens":
        return f"some of {named}, with commas between"
    return f"{named}; usually `{control.default}`" if control.default else f"none, or {named}"


def main() -> None:
    """Write the file, as for a visitor at this machine."""
    connection = visitor.Connection("127.0.0.1", (("Host", "localhost:8501"),))
    with mock.patch.object(visitor, "connection", return_value=connection), prepared_site():
        apps = [(page, open_app(page, **start)) for page, start in SCREENS]
    declared = [(page, dict(app.session_state["_controls"])) for page, app in apps]
    LINKS.write_text(to_markdown(rows_of(declared)), "utf-8")


if __name__ == "__main__":
    main()
