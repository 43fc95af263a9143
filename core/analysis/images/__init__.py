"""Attention over images: what heads and CLS look at, how far, and high-norm patches."""
