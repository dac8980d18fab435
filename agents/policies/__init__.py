"""Policies: networks, their files, and the agent that plays them.

networks   from observation rows to logits and values
files      saving a policy, and loading it into PyTorch
agent      the agent `policy`, which plays a network
weights    networks and their optimizer as arrays, for checkpoints
"""
