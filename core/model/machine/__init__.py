"""The machine that models run on: how much memory is free."""
