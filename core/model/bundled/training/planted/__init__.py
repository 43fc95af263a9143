"""How the planted models were made: words, parts that heads are set from, models, and a card."""
