"""How gpt2-novels was trained: data, network, training, measures, export and card."""
