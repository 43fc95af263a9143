"""Points of many dimensions in two or three: PCA, UMAP and t-SNE."""
