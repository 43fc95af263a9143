"""Projections of high-dimensional points to two or three dimensions: PCA, UMAP and t-SNE."""
