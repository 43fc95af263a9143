"""Figures of images."""
