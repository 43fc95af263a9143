"""Points of many dimensions in two or three: PCA, biplot, UMAP and t-SNE."""
