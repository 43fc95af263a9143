"""The file of a saved atlas: written, checked and opened."""
