"""The folder in which an atlas is saved."""

from core.atlas.files.errors import AtlasFileError
from core.atlas.files.folder import finish_folder, write_part

__all__ = ["AtlasFileError", "finish_folder", "write_part"]
