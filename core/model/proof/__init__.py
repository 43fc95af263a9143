"""The proof that what is recorded is the model's own attention, call by call."""
