"""Heuristics: features of an action, agents that weigh them, and one that errs."""
