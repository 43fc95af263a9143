"""The frame around every page: the sentence, the model, Share, rows of controls, the window."""
