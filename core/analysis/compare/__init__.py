"""Two texts or two models side by side: aligned, compared head by head, against a noise floor."""
