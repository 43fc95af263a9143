"""Weights of a loaded model: W_Q, W_K and W_O."""
