"""Exact results about small games: size, value, equilibria, and the exploitability of agents."""
