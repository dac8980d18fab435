"""The laboratory: stronger agents, the arena in which agents meet, and learning.

    search/     tree search, search with a policy, and exact endings
    policies/   networks, their files, and the agent that plays them
    arena/      tournaments on duplicate deals, and their statistics
    learn/      self-play, imitation, sweeps, and the configuration and files of a run
    data/       decisions with a search's values and exact marginals, as Parquet
    exact/      exact solutions of small games
    version     the version of all this code
    openspiel/  agents as OpenSpiel's policies and bots, and its bots as agents
    cluster/    training and tournaments on Ray

Importing this package registers its agents alongside those of the library.
"""

from fiveup_env.opponents import register_agent

register_agent("ismcts", "agents.search.ismcts:Ismcts")
register_agent("endgame", "agents.search.endings:Endgame")
register_agent("policy", "agents.policies.agent:PolicyAgent")
register_agent("policy+search", "agents.search.policy_search:PolicySearch")
register_agent("openspiel", "agents.openspiel.bots:OpenSpielIsmcts")
