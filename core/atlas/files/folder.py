"""The folder of an atlas: parts of whole sentences, written by any number of processes.

NAME.atlas/
  tokens-00000.parquet, sentences-00000.parquet, points-00000.parquet   of each part
  search-00000.safetensors   what a search reads of some parts together
  atlas.safetensors   what does not grow with the tokens, and a random sample of whole sentences
  atlas.json          what it is; written last, so that a folder without it is unfinished

One of images has the last two alone: all of them are its sample.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.atlas.data import Atlas, AtlasFacts, CorpusTexts, ProjectedPart
from core.atlas.files.description import Sizes, decode_description, encode_description
from core.atlas.files.facts import facts_arrays, pack_arrays
from core.atlas.files.sample import sample_arrays
from core.atlas.files.segments import write_segments
from core.atlas.files.tables import part_name, table_writers
from core.atlas.files.texts import as_stored
from core.atlas.whole_file import UNFINISHED, whole_file, write_whole

DESCRIPTION, ARRAYS = "atlas.json", "atlas.safetensors"


def write_part(folder: Path, part: ProjectedPart) -> None:
    """Write one part's files, whole or not at all; a part written before is replaced.

    Any number of processes may write to one folder, the same part too. Raises `AtlasFileError` when
    points are not finite; `OSError` when it cannot be written.
    """
    for table, write in table_writers(as_stored(part), part).items():
        with whole_file(folder / part_name(table, part.index), shared=True) as path:
            write(path)


def finish_folder(
    folder: Path, facts: AtlasFacts, parts: Iterable[CorpusTexts], sample: Atlas | ProjectedPart
) -> None:
    """Write what the parts do not have, so that the folder is an atlas.

    `parts` are the texts of all of them, in order; none of an atlas of images. `sample` are some
    sentences whole, drawn at random from all parts (about 5,000 tokens): the page draws them.
    Raises `AtlasFileError` when the parts do not have the tokens and sentences of `facts`, or
    points are not finite; `OSError` when something cannot be written.
    """
    for unfinished in folder.glob(f"*{UNFINISHED}"):  # of a writer that was killed
        unfinished.unlink(missing_ok=True)
    search = write_segments(folder, parts)
    arrays = facts_arrays(facts) | sample_arrays(sample)
    sizes = Sizes(len(sample.tokens), len(sample.sentences))
    description = encode_description(facts, sizes, search)
    decode_description(description)  # which refuses what does not fit each other
    write_whole(folder / ARRAYS, pack_arrays(arrays))
    write_whole(folder / DESCRIPTION, description)
