"""One builder of atlases: texts to parts, parts to sums, sums to constants, parts to points.

In memory, on disk and on many machines the same functions run, over different stores of parts.
"""

from core.analysis.atlas.engine.atlas import atlas_of, build_atlas
from core.analysis.atlas.engine.attention import share_to_measure
from core.analysis.atlas.engine.constants import HeadConstants, facts_of_sums, find_constants
from core.analysis.atlas.engine.counting import (
    add_counts,
    all_bounds,
    part_bounds,
    part_counts,
)
from core.analysis.atlas.engine.folder import FolderStore, PartsError, open_folder, remove_folder
from core.analysis.atlas.engine.part import Part, PartBuilder, trace_part
from core.analysis.atlas.engine.part_file import VectorsError
from core.analysis.atlas.engine.project import join_projected, pick, project_part
from core.analysis.atlas.engine.sample import Sample, sampled_numbers, shown_numbers
from core.analysis.atlas.engine.store import MemoryStore, Store
from core.analysis.atlas.engine.sums import Sums, merge
from core.analysis.atlas.engine.walk import Piece, Row, pieces_of, walk

__all__ = [
    "FolderStore",
    "HeadConstants",
    "MemoryStore",
    "Part",
    "PartBuilder",
    "PartsError",
    "Piece",
    "Row",
    "Sample",
    "Store",
    "Sums",
    "VectorsError",
    "add_counts",
    "all_bounds",
    "atlas_of",
    "build_atlas",
    "facts_of_sums",
    "find_constants",
    "join_projected",
    "merge",
    "open_folder",
    "part_bounds",
    "part_counts",
    "pick",
    "pieces_of",
    "project_part",
    "remove_folder",
    "sampled_numbers",
    "share_to_measure",
    "shown_numbers",
    "trace_part",
    "walk",
]
