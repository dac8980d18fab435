"""Agents that come with the library, and the registry that makes any agent from its spec.

agent                 the protocol, and the agent that plays at random
registry              `make_agent("pimc:worlds=200")`, and how to register an agent of your own
trust                 which specs may come from a file
rng                   random streams that tell an agent nothing of the deal
action_probabilities  with what probability an agent plays each action
heuristics            features of an action, the ladder that weighs them, and `casual`, which errs
levels                the ten levels of the table
pairs                 agents each of whose seats another agent plays
mixtures              an agent that is drawn for each episode
networks              compiled networks, what they read, their files, and those that are shipped
search                worlds, playouts, the outlook, inference, and the searches
"""

from fiveup_env.game.game import make_agents_with
from fiveup_env.opponents.agent import Agent
from fiveup_env.opponents.registry import (
    MIX,
    PROGRAM,
    SAVED_MODEL,
    TEXT,
    get_agent,
    known_agents,
    make_agent,
    register_agent,
)

__all__ = ["Agent", "get_agent", "known_agents", "make_agent", "register_agent"]

for _name, _place in {
    "random": "agent:Random",
    "greedy": "heuristics.ladder:Greedy",
    "defensive": "heuristics.ladder:Defensive",
    "positional": "heuristics.ladder:Positional",
    "counter": "heuristics.ladder:Counter",
    "partner": "heuristics.ladder:Partner",
    "reader": "heuristics.ladder:Reader",
    "casual": "heuristics.casual:Casual",
    "level": "levels:Level",
    "pair": "pairs:Pair",
    "seats": "pairs:Seats",
    MIX: "mixtures:Mixture",
    "student": "networks.policy:Student",
    "student+search": "search.network_search:StudentSearch",
    "policy": "networks.policy:PolicyAgent",
    "policy+search": "search.network_search:PolicySearch",
    "pimc": "search.pimc:Pimc",
}.items():
    register_agent(_name, f"fiveup_env.opponents.{_place}", in_files=True)
register_agent(SAVED_MODEL, "fiveup_env.opponents.networks.saved_model:SavedModel")
register_agent(TEXT, "fiveup_env.doors.text.agent:TextAgent")
register_agent(PROGRAM, "fiveup_env.programs.agent:Program")
make_agents_with(make_agent)
