"""The file of a saved atlas: writing, checking, opening."""
