"""Policies: networks, what they read, their files, and the agent that plays them."""
