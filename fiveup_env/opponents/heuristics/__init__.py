"""Heuristics: features of an action, and the ladder of agents that weigh them."""
