"""Images: what a vision transformer sees, and the attention between its patches."""
