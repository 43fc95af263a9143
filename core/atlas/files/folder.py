"""A large atlas as a folder: parts of whole sentences, written by any number of processes.

NAME.atlas/
  tokens-00000.parquet, sentences-00000.parquet, points-00000.parquet   of each part
  search-00000.safetensors   what a search reads of some parts together
  sample.atlas.zip    a random sample of whole sentences, an atlas that opens by itself
  atlas.safetensors   what does not grow with the tokens
  atlas.json          what it is; written last, so that a folder without it is unfinished
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from core.atlas.data import AtlasFacts, CorpusTexts, HeadPoints, ProjectedPart, heads_of
from core.atlas.files.archive import ARRAYS, DESCRIPTION
from core.atlas.files.description import MAX_PARTS, encode_description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import facts_arrays, pack_arrays
from core.atlas.files.reading import open_part, parts_of
from core.atlas.files.segments import write_segments
from core.atlas.files.tables import (
    FLOATS,
    POINTS_TABLE,
    SENTENCES_TABLE,
    TOKENS_TABLE,
    part_name,
    table_writers,
)
from core.atlas.files.texts import as_stored
from core.atlas.files.writing import write_file
from core.atlas.whole_file import UNFINISHED, whole_file, write_whole

SAMPLE = "sample.atlas.zip"
_PART = re.compile(r"points-(\d{5})\.parquet")


def write_part(folder: Path, part: ProjectedPart, dtype: str = "float32") -> None:
    """Write one part's files, whole or not at all; a part written before is replaced.

    Any number of processes may write to one folder, the same part too. `dtype` of the points is
    "float32" or "float16". Raises `AtlasFileError` when points are not finite in that type, or
    sentences do not fit their tokens; `OSError` when it cannot be written.
    """
    if not 0 <= part.index < MAX_PARTS:
        raise AtlasFileError(f"A part has the number {part.index:,}.")
    numbers = part.numbers
    if len(part.sentences) != len(numbers) or len(part.labels) not in {0, len(numbers)}:
        raise AtlasFileError(
            f"Part {part.index} has {len(part.sentences):,} sentences and {len(part.labels):,}"
            f" labels for tokens of {len(numbers):,}."
        )
    writers = table_writers(as_stored(part), heads_of(part), dtype)
    for table, write in reversed(writers.items()):  # points last: the part is there
        with whole_file(folder / part_name(table, part.index), shared=True) as path:
            write(path)


def finish_folder(
    folder: Path,
    facts: AtlasFacts,
    sample: CorpusTexts,
    sample_heads: Iterable[HeadPoints],
) -> None:
    """Write what the parts do not have, so that the folder is an atlas.

    `sample` are some sentences whole, drawn at random from all parts (about 5,000 tokens), with the
    points of all heads: the page opens them as an ordinary atlas. Raises `AtlasFileError` when the
    parts do not have the tokens and sentences of `facts`; `OSError` when something cannot be
    written.
    """
    (folder / DESCRIPTION).unlink(missing_ok=True)  # unfinished until all is written
    sizes = [(index, *_sizes(folder, index)) for index in parts_in(folder)]
    held = sum(tokens for _, tokens, _ in sizes), sum(count for *_, count in sizes)
    if held != (facts.tokens, facts.sentences):
        raise AtlasFileError(
            f"The parts have {held[0]:,} tokens of {held[1]:,} sentences, and the atlas has"
            f" {facts.tokens:,} of {facts.sentences:,}."
        )
    dtype = str(open_part(folder, POINTS_TABLE, sizes[0][0]).schema_arrow.field(FLOATS[0]).type)
    dtype = {"halffloat": "float16", "float": "float32"}[dtype]
    write_file(facts, sample, sample_heads, folder / SAMPLE)
    for unfinished in folder.glob(f"*{UNFINISHED}"):  # of a writer that was killed
        unfinished.unlink(missing_ok=True)
    segments = write_segments(folder, parts_of(folder, sizes))
    write_whole(folder / ARRAYS, pack_arrays(facts_arrays(facts)))
    write_whole(folder / DESCRIPTION, encode_description(facts, sizes, dtype, segments))


def parts_in(folder: Path) -> list[int]:
    """The numbers of the parts that are written, ascending."""
    matches = (_PART.fullmatch(entry.name) for entry in folder.iterdir())
    return sorted(int(match[1]) for match in matches if match)


def _sizes(folder: Path, index: int) -> tuple[int, int]:
    """Tokens and sentences of a part; `AtlasFileError` where its files do not fit each other."""
    points, tokens, sentences = (
        open_part(folder, name, index).metadata
        for name in (POINTS_TABLE, TOKENS_TABLE, SENTENCES_TABLE)
    )
    if points.num_row_groups == 0 or points.row_group(0).num_rows != tokens.num_rows:
        raise AtlasFileError(f"The files of part {index} are of different tokens.")
    return tokens.num_rows, sentences.num_rows
