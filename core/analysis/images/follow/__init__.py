"""Feature selectivity in an image: each look and each place beyond the rest, and beyond chance."""
