"""CLS attention: its maps, the region that they are measured on, and how far heads look."""
