"""What the neuron view page alone has."""
