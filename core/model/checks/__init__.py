"""Checks before a model is loaded: folder, config, tokenizer, weights."""
