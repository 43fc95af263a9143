"""The anomaly views page: flags, norms, the first token, what is moved, hidden states."""
