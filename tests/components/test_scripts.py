"""How scripts that import each other become one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from core.components.scripts import ROOT, inlined, ordered, read_script

if TYPE_CHECKING:
    from pathlib import Path

VIEWS = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


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


def test_scripts_that_import_each_other_in_a_circle_are_named(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        view='import { a } from "./one.js"\n',
        one='import { b } from "./two.js"\nexport const a = 1\n',
        two='import { a } from "./one.js"\nexport const b = 1\n',
    )
    with pytest.raises(ValueError, match=r"circle: \S*one\.js -> \S*two\.js -> \S*one\.js$"):
        inlined(entry)


def test_a_missing_script_is_named_with_the_one_that_wants_it(tmp_path: Path) -> None:
    entry = write(tmp_path, view='import { a } from "./gone.js"\n')
    with pytest.raises(FileNotFoundError, match=r"view\.js imports \./gone\.js, which does not"):
        inlined(entry)


def test_a_name_that_is_not_exported_cannot_be_imported(tmp_path: Path) -> None:
    entry = write(tmp_path, view='import { a } from "./base.js"\n', base="const a = 1\n")
    with pytest.raises(ValueError, match=r"view\.js imports a, which \S*base\.js does not export"):
        inlined(entry)


@pytest.mark.parametrize(
    "view",
    [
        'import { a } from "./one.js"\nimport { a } from "./two.js"\n',
        'import { a } from "./one.js"\nfunction a() {}\n',
        "const a = 1\nasync function a() {}\n",
    ],
    ids=["imported twice", "imported and declared", "declared twice"],
)
def test_a_name_stands_for_one_thing_in_a_script(tmp_path: Path, view: str) -> None:
    entry = write(tmp_path, view=view, one="export const a = 1\n", two="export const a = 2\n")
    with pytest.raises(ValueError, match=r"view\.js has two things of the name a$"):
        inlined(entry)


@pytest.mark.parametrize(
    "line",
    ['import all from "./one.js"', 'import * as one from "./one.js"', "export let a = 1"],
)
def test_a_form_that_is_not_understood_is_refused(tmp_path: Path, line: str) -> None:
    entry = write(tmp_path, view=f"{line}\n", one="export const a = 1\n")
    with pytest.raises(ValueError, match=re.escape(f"cannot inline “{line}”")):
        inlined(entry)


def test_types_do_not_travel(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        view="/**\n * @param {number} a\n */\nfunction f(a) {\n  /** @type {any} */\n}\n"
        "class C {\n  /** @type {any} */ field\n  /** @returns {any} */\n}\n",
    )
    field = "class C {\n  /** @type {any} */ field\n}\n"
    assert inlined(entry) == "function f(a) {\n}\n" + field


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_one_script_with_one_export(view: str) -> None:
    script = read_script(view)
    assert re.findall(r"^(?:import|export)\b.*$", script, re.MULTILINE) == [
        "export default function (component) {"
    ]


def test_every_script_belongs_to_a_view() -> None:
    needed = {path for view in VIEWS for path in ordered(ROOT / view / f"{view}.js")}
    assert set(ROOT.glob("*/*.js")) == needed
