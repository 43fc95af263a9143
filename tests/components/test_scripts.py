"""How scripts that import each other become one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.components.scripts import ROOT, inlined, ordered, read_script


def write(folder: Path, **scripts: str) -> Path:
    """Scripts in a folder; the path of the first of them."""
    for name, text in scripts.items():
        (folder / f"{name}.js").write_text(text, "utf-8")
    return folder / f"{next(iter(scripts))}.js"


def test_a_script_stands_after_all_that_it_needs_and_each_stands_once(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        view='import { a } from "./left.js"\nimport { b } from "./right.js"\n',
        left='import { c } from "./base.js"\nexport const a = c\n',
        right='import { c } from "./base.js"\nexport const b = c\n',
        base="export const c = 1\n",
    )
    assert [path.stem for path in ordered(entry)] == ["base", "left", "right", "view"]
    assert inlined(entry).count("const c = 1") == 1


_ONE = "export const a = 1\n"


@pytest.mark.parametrize(
    ("view", "one", "message"),
    [
        (
            'import { a } from "./one.js"\n',
            'import { a } from "./view.js"\n',
            "circle: .* -> .*view",
        ),
        ('import { a } from "./gone.js"\n', _ONE, r"view\.js imports \./gone\.js, which does not"),
        ('import { b } from "./one.js"\n', _ONE, r"imports b, which \S*one\.js does not export"),
        ('import { a } from "./one.js"\n' * 2, _ONE, r"view\.js has two things of the name a$"),
        ('import { a } from "./one.js"\nfunction a() {}\n', _ONE, "two things of the name a$"),
        (f"{_ONE}async function a() {{}}\n", "", "two things of the name a$"),
        ('import all from "./one.js"\n', _ONE, "cannot inline “import all from"),
        ('import * as x from "./one.js"\n', _ONE, r"cannot inline “import \* as x"),
        ("export let a = 1\n", "", "cannot inline “export let a = 1”"),
    ],
)
def test_scripts_that_cannot_be_one_are_refused_with_the_reason(
    tmp_path: Path, view: str, one: str, message: str
) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        inlined(write(tmp_path, view=view, one=one))


def test_a_view_is_one_script_with_one_export_and_every_script_belongs_to_one() -> None:
    views = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
    for view in views:
        statements = re.findall(r"^(?:import|export)\b.*$", read_script(view), re.MULTILINE)
        assert statements == ["export default function (component) {"], view
    needed = {path for view in views for path in ordered(ROOT / view / f"{view}.js")}
    assert set(ROOT.glob("**/*.js")) == needed
