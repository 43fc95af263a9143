"""An atlas built by many processes or machines, with Ray, which is an optional requirement.

Ray is imported inside of functions, and only when the command line is given ``--ray``. It restarts
a worker that died and gives it its part again; nothing here does.
"""
