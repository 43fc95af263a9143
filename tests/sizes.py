"""The lines of every folder, which may only fall: python -m tests.sizes lowers sizes.toml.

Python, JavaScript and CSS are counted in lines. The Markdown and TOML of core/ is counted in words,
under "words". Vendored files (vendor folders) are not ours and are not counted.
"""

import subprocess
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUMBERS = Path(__file__).with_name("sizes.toml")
CODE = {".py", ".js", ".css"}
PROSE = {".md", ".toml"}


def measure() -> dict[str, dict[str, int]]:
    """Lines of code in each folder, and words of prose in each folder of core, of files in Git.

    Folders are core/model, tests/pages, pages, ...: at most two names.
    """
    lines, words = Counter[str](), Counter[str]()
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for path in map(Path, filter(None, listed.split("\0"))):
        folder = "/".join(path.parent.parts[:2]) or "."
        if not (ROOT / path).is_file() or "vendor" in path.parts:
            continue
        if path.suffix in CODE:
            lines[folder] += (ROOT / path).read_bytes().count(b"\n")
        elif path.suffix in PROSE and path.parts[0] == "core":
            words[folder] += len((ROOT / path).read_text("utf-8").split())
    return {"lines": dict(sorted(lines.items())), "words": dict(sorted(words.items()))}


def recorded() -> dict[str, dict[str, int]]:
    return tomllib.loads(NUMBERS.read_text("utf-8"))


def main() -> None:
    """Write today's sizes where they are below those recorded; a folder that is gone has none."""
    before = recorded()
    text = "# Written by python -m tests.sizes; the numbers may only fall.\n"
    for kind, sizes in measure().items():
        lowest = {
            folder: min(size, before[kind].get(folder, size)) for folder, size in sizes.items()
        }
        rows = "".join(f'"{folder}" = {size}\n' for folder, size in lowest.items())
        text += f"\n[{kind}]\n{rows}"
    NUMBERS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
