"""`.github/FAMILIES.md` is of the installed transformers, and says what the tests find."""

from __future__ import annotations

import re
from importlib.metadata import version

from tests.model.sweep.sizes import all_kinds
from tests.model.test_types_used_most import DECODERS, ENCODERS, WITH_IMAGES
from tests.tools.families_table import FAMILIES, table


def test_the_list_names_each_type_of_this_version_once_and_those_used_most_as_open() -> None:
    text = FAMILIES.read_text("utf-8")
    assert f"transformers {version('transformers')}:" in " ".join(text.split())
    opens, refused = (re.findall(r"`([\w.-]+)`[,.]", part) for part in text.split("## Refused"))
    names = opens + refused
    assert len(set(names)) == len(names)
    assert set(names) <= set(all_kinds())
    assert {*ENCODERS, *DECODERS, *WITH_IMAGES} <= set(opens)
    assert f"## Open: {len(opens)} of {len(names)}" in text


def test_a_refusal_stands_under_its_reason() -> None:
    verdicts = [
        {"kind": "bert", "outcome": "opens", "reason": ""},
        {"kind": "udop", "outcome": "refused", "reason": "cannot be run on a text alone"},
        {"kind": "odd", "outcome": "crash", "reason": "never heard of it"},
    ]
    assert re.findall(r"\((\d)\):\n(`\w+`)\.", table(verdicts)) == [("1", "`udop`"), ("1", "`odd`")]
