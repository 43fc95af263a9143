"""What one page alone has, a folder a page. Screens never import each other."""
