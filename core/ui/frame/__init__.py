"""What stands around every page: the sentence, the sidebar, Share, rows of controls, the window."""
