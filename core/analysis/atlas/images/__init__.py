"""Atlases of images: their pixels, and the search for patches."""
