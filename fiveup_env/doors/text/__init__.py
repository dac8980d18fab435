"""Text in, text out: the environment for language models, and language models as agents.

prompts      the question to a model, and the move in its answer
tools        what a model may ask before it moves
vocabulary   the same game in other words
agent        the agent `text:module:Model`
environment  `TextEnv`, one model among opponents
"""

from fiveup_env.doors.text.agent import TextAgent
from fiveup_env.doors.text.environment import Costs, TextEnv

__all__ = ["Costs", "TextAgent", "TextEnv"]
