"""The files of atlases: one zip file for a small one, a folder of parts for a large one."""

from core.atlas.files.errors import AtlasFileError
from core.atlas.files.folder import finish_folder, parts_in, write_part
from core.atlas.files.opening import MAX_ROWS, read_atlas
from core.atlas.files.writing import write_atlas, write_file

__all__ = [
    "MAX_ROWS",
    "AtlasFileError",
    "finish_folder",
    "parts_in",
    "read_atlas",
    "write_atlas",
    "write_file",
    "write_part",
]
