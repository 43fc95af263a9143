"""The weights this project trained itself or set by hand, and the scripts that made them."""
