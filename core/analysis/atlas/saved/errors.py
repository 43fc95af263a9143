"""What is raised where a file is no atlas."""


class AtlasFileError(ValueError):
    """A file is not an atlas that can be opened; the message says in a sentence what was found."""
