"""What is looked at before a model is loaded: folder, config, tokenizer, weights."""
