"""How vit-scenes was trained: its pictures, its task, network, training, measures, card."""
