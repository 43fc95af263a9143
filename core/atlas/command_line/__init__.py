"""The parts that the command line is made of."""
