"""CLS attention: its maps, all of them together, and the regions that they are measured on."""
