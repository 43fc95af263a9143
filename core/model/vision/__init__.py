"""Models that see images: which there are, what is known of one, and its tokens."""
