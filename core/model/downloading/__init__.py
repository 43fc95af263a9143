"""Models from the hub: what it offers, and downloads in a separate process."""
