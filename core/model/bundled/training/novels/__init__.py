"""How gpt2-novels was trained: text, network, training, measures, export and card."""
