"""Puzzles: positions with one best move, for the table.

solver      the best play in a hand whose tiles are all known
storage     a puzzle, the position that it leads to, and the file that the table reads
judging     the reference search, the solver's proof, and the agents that grade a puzzle
making      games between agents, the positions that are worth solving, and `make_puzzles`
checking    every claim of a file, found again in other worlds
"""
