"""The files of atlases: one zip file for a small one, a folder of parts for a large one."""

from core.analysis.atlas.files.errors import AtlasFileError
from core.analysis.atlas.files.folder import Density, finish_folder, parts_in, write_part
from core.analysis.atlas.files.large import LargeAtlas, open_large
from core.analysis.atlas.files.opening import MAX_ROWS, read_atlas
from core.analysis.atlas.files.part import TokenRows
from core.analysis.atlas.files.writing import max_file_bytes, write_atlas

__all__ = [
    "MAX_ROWS",
    "AtlasFileError",
    "Density",
    "LargeAtlas",
    "TokenRows",
    "finish_folder",
    "max_file_bytes",
    "open_large",
    "parts_in",
    "read_atlas",
    "write_atlas",
    "write_part",
]
