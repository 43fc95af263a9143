"""PNG, JPEG and WebP files: what each says of itself, and its picture at a known cost."""
