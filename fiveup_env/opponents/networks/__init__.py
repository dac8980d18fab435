"""Networks that play: in compiled code, of Stable-Baselines3, and of one's own.

lookahead    the encoder of the heuristics' features, and of where hidden tiles may be
flat_belief  the encoder of where they may be if plays tell nothing
files        the files of a policy, and the policies that are shipped
compiled     the network: microseconds a decision, without PyTorch
policy       the agents `policy` and `student`
saved_model  the agent `sb3`, which is a model of Stable-Baselines3
statistics   what `VecNormalize` did to that model's rows, as numbers
wrapped      `as_agent`: an agent of any network, in PyTorch, JAX or NumPy
"""
