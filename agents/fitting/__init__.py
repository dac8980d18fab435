"""What the library's agents are fitted with, and what teaches learners.

tuning     the search for the weights of the heuristic ladder
fitting    the model of the others' moves, fitted to those of strong players
teachers   agents that say what every action is worth
"""
