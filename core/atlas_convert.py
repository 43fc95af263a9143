"""Convert an atlas that an earlier version saved as a table into one that this version opens.

    python -m core.atlas_convert old.parquet new.atlas.zip

The points, sentences and measures stay as they were; the old file is kept.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.analysis.atlas.files import AtlasFileError, read_atlas, write_atlas
from core.analysis.atlas.files.writing import whole_file
from core.console.old_atlas import read_old_atlas


def main(arguments: list[str] | None = None) -> int:
    """Convert one file; the exit status: 0, or 2 when it could not be done."""
    parser = argparse.ArgumentParser(
        prog="python -m core.atlas_convert", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("old", type=Path, help="the file of an earlier version (.parquet)")
    parser.add_argument("new", type=Path, help="the file to write (.atlas.zip)")
    given = parser.parse_args(arguments)
    try:
        convert(given.old, given.new)
    except (AtlasFileError, OSError) as error:
        sys.stderr.write(f"{given.old}: {error}\n")
        return 2
    return 0


def convert(old: Path, new: Path) -> None:
    """Write `new`, if it opens again.

    Raises `AtlasFileError` when `old` is no such atlas, or has numbers that no atlas has; `OSError`
    when one cannot be read or the other written.
    """
    atlas = read_old_atlas(old)
    with whole_file(new) as path:
        write_atlas(atlas, path)
        read_atlas(path)


if __name__ == "__main__":
    sys.exit(main())
