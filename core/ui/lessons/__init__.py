"""Lessons: data that leads through pages, with questions that the trace on screen answers."""
