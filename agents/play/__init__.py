"""Agents that play by rules of thumb and by search; all compiled, without a network."""
