"""Agents that come with the library, and the registry that makes any agent from its spec.

agent             the protocol, and the agent that plays at random
registry          `make_agent("pimc:worlds=200")`, and how to register an agent of your own
ladder            the heuristics, each named for what it adds to the one below
features          what the heuristics see in an action
lookahead         the encoder of these features, and of what the others' plays tell
student           a small network that plays in microseconds
policy            any trained policy, the shipped ones in `policies/`
networks          networks in compiled code
policy_files      the files of a trained policy
pimc              search: every action played out in sampled worlds
policy_search     a trained policy that looks ahead in worlds
student_search    the small network, looking ahead in worlds that the others' moves make likely
world_search      the core of searches: actions tried in worlds, under a budget, with a prior
world_statistics  what worlds show about each action, and when one is clearly worse
dealing           the worlds: drawn from the belief, and weighed by the others' moves
inference         how likely the others' moves were in a world
action_values     actions tried in worlds, for searches, judgements and labels
playouts          hands played to their end inside compiled code
outlook           the chance to win a game from its scores
units             between the values of searches and the rewards of learners
"""

from fiveup_env.opponents.agent import Agent
from fiveup_env.opponents.registry import get_agent, known_agents, make_agent, register_agent

__all__ = ["Agent", "get_agent", "known_agents", "make_agent", "register_agent"]

register_agent("random", "fiveup_env.opponents.agent:Random")
for _rung in ("greedy", "defensive", "positional", "counter", "partner"):
    register_agent(_rung, f"fiveup_env.opponents.ladder:{_rung.capitalize()}")
register_agent("student", "fiveup_env.opponents.student:Student")
register_agent("student+search", "fiveup_env.opponents.student_search:StudentSearch")
register_agent("policy", "fiveup_env.opponents.policy:PolicyAgent")
register_agent("policy+search", "fiveup_env.opponents.policy_search:PolicySearch")
register_agent("pimc", "fiveup_env.opponents.pimc:Pimc")
