"""Searches: actions tried in worlds that agree with what was seen.

dealing           the worlds: drawn from the belief, and weighed by the others' moves
inference         how likely the others' moves were in a world
playouts          hands played to their end inside compiled code
outlook           the chance to win a game from its scores
units             between the values of searches and the rewards of learners
action_values     actions tried in worlds, for searches, judgements and labels
world_statistics  what worlds show about each action, and when one is clearly worse
world_search      the core of searches: a budget, worlds, and a prior
pimc              search without a prior
network_search    search from a network's probabilities or values
"""
