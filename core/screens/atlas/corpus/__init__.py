"""Which corpus an atlas is of, what it costs, how it is made, saved and opened."""
