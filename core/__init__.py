"""Headscope: what a transformer attends to, and how far to trust the picture."""
