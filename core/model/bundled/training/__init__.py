"""How the bundled models were trained: data, network, training, measures, export and card."""
