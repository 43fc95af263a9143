"""Weights of a loaded model: embeddings, W_Q, W_K and W_O."""
