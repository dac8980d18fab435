"""The laboratory: agents that play from views, and the arena in which they meet.

Importing it lets the library's environments understand the specs of agents as opponents.
"""

from agents.registry import make_agent
from fiveup_env.opponents import make_policies_with

make_policies_with(make_agent)
