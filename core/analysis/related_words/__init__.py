"""Words that are related by the model's own input embeddings, and heads that look there."""
