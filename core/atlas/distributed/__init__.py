"""An atlas built by many processes or machines, with Ray, which is an optional requirement.

Ray is only imported inside functions, and only if the command line is given ``--ray``. Ray restarts
a worker that died and gives it its part again; our code does not.
"""
