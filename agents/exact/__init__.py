"""Exact answers about small games: size, value, equilibria, and how far agents can be exploited."""
