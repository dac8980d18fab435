"""Benchmarks of other libraries' games, each in a virtual environment of its own.

The scripts here run in those environments, so they import nothing from this project.
"""
