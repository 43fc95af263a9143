"""The pages of heads: which pattern they follow, what is odd about them, whether they matter."""
