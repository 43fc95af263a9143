"""The parts of the head patterns page."""
