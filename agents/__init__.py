"""The laboratory: stronger agents, the arena in which agents meet, and what learns.

    search/     searches with a tree, with a policy, and endings solved exactly
    policies/   networks, their files, and the agent that plays them
    arena/      tournaments on duplicate deals, and their statistics
    learn/      self-play, imitation, and the furniture of a run
    exact/      small games solved
    openspiel/  agents as OpenSpiel's policies and bots, and its bots as agents
    cluster/    training and tournaments on Ray

Importing it registers its agents beside those of the library.
"""

from fiveup_env.opponents import register_agent

register_agent("ismcts", "agents.search.ismcts:Ismcts")
register_agent("endgame", "agents.search.endings:Endgame")
register_agent("policy", "agents.policies.agent:PolicyAgent")
register_agent("policy+search", "agents.search.policy_search:PolicySearch")
register_agent("openspiel", "agents.openspiel.bots:OpenSpielIsmcts")
