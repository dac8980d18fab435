"""Policies: networks, their files, and the agent that plays them.

networks   from observation rows to logits and values
files      saving a policy, and loading it into PyTorch
agent      agents that play a network by PyTorch, and policies whose shape compiled code lacks
weights    networks and their optimizer as arrays, for checkpoints

`python -m agents.policies` writes a policy anew, as float16 or with its logits divided.
"""
