"""An atlas of more tokens than points can show: counts in cells, and points where they are few."""
