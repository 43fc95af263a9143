"""Texts as tokens, and as what a network gets."""
