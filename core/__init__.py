"""Headscope: what a transformer attends to, and how far to trust the picture."""

VERSION = "1.0.0"  # the newest in the changelog; files that people save carry it
