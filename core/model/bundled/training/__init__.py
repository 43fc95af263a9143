"""How the bundled models were made: a folder for each."""
