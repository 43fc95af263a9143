"""How the bundled models were trained: a folder for each."""
