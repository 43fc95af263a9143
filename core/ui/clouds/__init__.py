"""Queries and keys as points: what the pages that draw them share."""
