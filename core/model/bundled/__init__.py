"""The weights this project trained itself, and the scripts that trained them."""
