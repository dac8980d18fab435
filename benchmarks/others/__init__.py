"""How many steps a second other libraries' games make, each in a virtual environment of its own.

The scripts here run in those environments, so they import nothing of this project.
"""
