"""The lines of every folder, which may only fall: python -m tests.sizes lowers sizes.toml.

Python, JavaScript and CSS are counted in lines. The Markdown and TOML of core/ is counted in words,
under "words". Vendored files (vendor folders) are not ours and are not counted. What only lessons
or only the comparison of two sides has is counted apart from its folders, within `BUDGETS`.
"""

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUMBERS = Path(__file__).with_name("sizes.toml")
CODE = {".py", ".js", ".css"}
PROSE = {".md", ".toml"}
# Lines of code, in all and in tests: what lessons and comparisons were granted.
BUDGETS = {"lessons": 1_700, "compare": 1_500, "tests/lessons": 600, "tests/compare": 700}
_OWN = re.compile(r"(?:^|[/_])(?:(?P<lessons>lessons?)|(?P<compare>compare|exchange))(?=[/._])")


def measure() -> dict[str, dict[str, int]]:
    """Lines of code in each folder, and words of prose in each folder of core, of files in Git.

    Folders are core/model, tests/pages, pages, ...: at most two names.
    """
    lines, words = Counter[str](), Counter[str]()
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for path in map(Path, filter(None, listed.split("\0"))):
        folder = _folder(path)
        if not (ROOT / path).is_file() or "vendor" in path.parts:
            continue
        if path.suffix in CODE:
            lines[folder] += (ROOT / path).read_bytes().count(b"\n")
        elif path.suffix in PROSE and path.parts[0] == "core":
            words[folder] += len((ROOT / path).read_text("utf-8").split())
    return {"lines": dict(sorted(lines.items())), "words": dict(sorted(words.items()))}


def _folder(path: Path) -> str:
    own = _OWN.search(path.as_posix())
    if own and own.lastgroup:
        return f"tests/{own.lastgroup}" if path.parts[0] == "tests" else own.lastgroup
    return "/".join(path.parent.parts[:2]) or "."


def recorded() -> dict[str, dict[str, int]]:
    return tomllib.loads(NUMBERS.read_text("utf-8"))


def main() -> None:
    """Write today's sizes where they are below those recorded; a folder that is gone has none."""
    before = recorded()
    text = "# Written by python -m tests.sizes; the numbers may only fall.\n"
    for kind, sizes in measure().items():
        lowest = {
            folder: size if folder in BUDGETS else min(size, before[kind].get(folder, size))
            for folder, size in sizes.items()
        }
        rows = "".join(f'"{folder}" = {size}\n' for folder, size in lowest.items())
        text += f"\n[{kind}]\n{rows}"
    NUMBERS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
