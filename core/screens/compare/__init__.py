"""Two texts or two models side by side: what is compared, the picture, which heads carry it."""
