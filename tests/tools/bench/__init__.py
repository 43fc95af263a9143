"""How fast the app is and how much memory it takes: ``python -m tests.tools.bench``."""
