"""How much memory this machine has free."""
