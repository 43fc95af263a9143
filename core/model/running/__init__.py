"""A network that was loaded, and the texts that run through it."""
