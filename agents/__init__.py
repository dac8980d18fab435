"""The laboratory: stronger agents, the arena in which agents meet, and learning.

    search/     what searches and heuristics are measured, fitted and tuned with
    policies/   networks, their files, and the agent that plays them
    arena/      the bank of positions, and entries of the leaderboard
    learn/      self-play, imitation, and the configuration and files of a run
    data/       decisions with a search's values and exact marginals, as Parquet
    version     the version of all this code
    exact/      the command line of exact results about small games
    openspiel/  agents as OpenSpiel's policies and bots, and its bots as agents
    cluster/    training and tournaments on Ray

Importing this package registers its agents alongside those of the library, and imports none of
them.
"""

from fiveup_env.opponents import register_agent

register_agent("openspiel", "agents.openspiel.bots:OpenSpielIsmcts")
register_agent("torch", "agents.policies.agent:TorchPolicy")
register_agent("torch+search", "agents.policies.agent:TorchSearch")
