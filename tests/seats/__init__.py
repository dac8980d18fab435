"""What the laboratory promises: its agents, the arena, and what learns."""
