"""From a name to a model that can be traced: catalogue, hub, checks of the folder, load."""
