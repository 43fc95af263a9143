"""How a page looks, measured: sizes of letters, contrast of texts, what axe finds."""
