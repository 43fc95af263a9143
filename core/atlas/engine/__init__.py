"""One builder of atlases: texts to parts, parts to sums, sums to constants, parts to points.

In memory, on disk and on many machines the same functions run, over different stores of parts.
"""

from core.atlas.engine.atlas import atlas_of, build_atlas
from core.atlas.engine.attention import share_to_measure
from core.atlas.engine.constants import HeadConstants, facts_of_sums, find_constants
from core.atlas.engine.counting import add_counts, all_bounds, part_bounds, part_counts
from core.atlas.engine.folder import (
    FolderStore,
    ForeignFileError,
    ShardsError,
    open_folder,
    remove_folder,
    remove_own,
)
from core.atlas.engine.project import project, project_part
from core.atlas.engine.sample import sampled_numbers, shown_numbers
from core.atlas.engine.shard import Shard, ShardBuilder
from core.atlas.engine.shard_file import VectorsError
from core.atlas.engine.store import MemoryStore
from core.atlas.engine.sums import Sums, merge
from core.atlas.engine.walk import Chunk, Row, chunks_of, walk

__all__ = [
    "Chunk",
    "FolderStore",
    "ForeignFileError",
    "HeadConstants",
    "MemoryStore",
    "Row",
    "Shard",
    "ShardBuilder",
    "ShardsError",
    "Sums",
    "VectorsError",
    "add_counts",
    "all_bounds",
    "atlas_of",
    "build_atlas",
    "chunks_of",
    "facts_of_sums",
    "find_constants",
    "merge",
    "open_folder",
    "part_bounds",
    "part_counts",
    "project",
    "project_part",
    "remove_folder",
    "remove_own",
    "sampled_numbers",
    "share_to_measure",
    "shown_numbers",
    "walk",
]
