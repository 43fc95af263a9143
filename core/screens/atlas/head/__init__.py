"""One head of the atlas: its cloud, the sentence of a token, and its lines."""
