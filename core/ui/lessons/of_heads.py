"""What lessons ask about heads in one space, masks, effects and images."""
