"""Searches that need the laboratory: with a tree, with a policy, and endings solved exactly."""
