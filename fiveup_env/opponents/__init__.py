"""Agents that come with the library, and the registry that makes any agent from its spec.

agent                 the protocol, and the agent that plays at random
registry              `make_agent("pimc:worlds=200")`, and how to register an agent of your own
rng                   random streams that tell an agent nothing of the deal
action_probabilities  with what probability an agent plays each action
heuristics            features of an action, the ladder that weighs them, and `casual`, which errs
levels                the ten levels of the table
pairs                 two agents as partners of each other
networks              compiled networks, what they read, their files, and those that are shipped
search                worlds, playouts, the outlook, inference, and the searches
text                  language models as agents: prompts, other words for the same game
programs              agents in any language, in processes of their own
"""

from fiveup_env.opponents.agent import Agent
from fiveup_env.opponents.registry import (
    PAIR,
    TEXT,
    get_agent,
    known_agents,
    make_agent,
    register_agent,
)

__all__ = ["Agent", "get_agent", "known_agents", "make_agent", "register_agent"]

register_agent("random", "fiveup_env.opponents.agent:Random")
for _rung in ("greedy", "defensive", "positional", "counter", "partner"):
    register_agent(_rung, f"fiveup_env.opponents.heuristics.ladder:{_rung.capitalize()}")
register_agent("casual", "fiveup_env.opponents.heuristics.casual:Casual")
register_agent("level", "fiveup_env.opponents.levels:Level")
register_agent(PAIR, "fiveup_env.opponents.pairs:Pair")
register_agent("student", "fiveup_env.opponents.networks.policy:Student")
register_agent("student+search", "fiveup_env.opponents.search.network_search:StudentSearch")
register_agent("policy", "fiveup_env.opponents.networks.policy:PolicyAgent")
register_agent("policy+search", "fiveup_env.opponents.search.network_search:PolicySearch")
register_agent("pimc", "fiveup_env.opponents.search.pimc:Pimc")
register_agent("sb3", "fiveup_env.opponents.networks.saved_model:SavedModel")
register_agent(TEXT, "fiveup_env.opponents.text.agent:TextAgent")
register_agent("program", "fiveup_env.opponents.programs.agent:Program")
