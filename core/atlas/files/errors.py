"""The error of a file that is not an atlas."""


class AtlasFileError(ValueError):
    """A file is not an atlas that can be opened; the message says why in a sentence."""
