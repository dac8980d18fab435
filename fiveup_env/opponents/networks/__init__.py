"""Networks in compiled code.

lookahead  the encoder of the heuristics' features, and of what the others passed over
files      the files of a policy, and the policies that are shipped
compiled   the network: microseconds a decision, without PyTorch
policy     the agents `policy` and `student`
"""
