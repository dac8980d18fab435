"""Searches beyond the library's.

ismcts      a tree over sampled worlds
reference   the value of every action by many worlds, and how exactly it is known
tuning      the search for the weights of the heuristic ladder
relaxation  an upper bound on what can be won from a heuristic
choices     how likely a heuristic's moves are in a world
fitting     the model of the others' moves, fitted to those of strong players
"""
