"""What the atlas page is made of."""
