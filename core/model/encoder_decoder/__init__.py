"""Networks that read a text with an encoder and write another with a decoder."""
