"""Learning in compiled code: the same weights, byte for byte, on every machine.

networks   the weights of a network in one vector, and what it reads of a row
initial    the weights that a network begins with
decisions  decisions as they are learnt from: entries that are not zero, and legal actions
lanes      eight or sixteen numbers at a time
layers     forward and backward passes of single layers, for a tile of decisions
trunks     those of a trunk: plain layers, or residual blocks
heads      those of logits and values
losses     what is made small: PPO, regression on differences, the gain of all actions
gradients  the gradient of a minibatch, summed in one order by any number of threads
adam       steps of the optimizer, with clipping
threads    threads that work together
steps      a step on a minibatch, which threads make together
windows    games that the network plays in all seats, and the advantages of its decisions
runs       a run of self-play as one block of bytes, and its updates
learner    a network that learns from decisions
selfplay   a run of self-play

Everything is float32 and done in the order that the code says, without fast-math; `exp` and `log`
are this project's own. A minibatch is cut into parts of about `gradients.PART` decisions, a part
into tiles of `layers.TILE`. A part's gradient is summed in the order of its decisions; the parts'
sums are added in their order. Threads share out whole parts, so their number changes no byte.
"""
