"""Code that only one page needs, one folder per page. Screens never import each other."""
