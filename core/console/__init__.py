"""Parts of command lines."""
