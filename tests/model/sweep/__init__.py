"""Every text type of transformers: a tiny random model of it, opened as a visitor would open it."""
