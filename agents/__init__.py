"""The laboratory: agents that play from views, and the arena in which they meet."""
