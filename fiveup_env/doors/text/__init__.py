"""Text in, text out: the environment for language models, and language models as agents.

prompts      the question to a model, and the move in its answer
tools        what a model may ask before it moves
talk         what a model is asked and told at its seat, and what its answers cost
vocabulary   the same game in other words
agent        the agent `text:module:Model`
environment  `TextEnv`, one model among opponents
table        `TextTable`, models in several seats
"""

from fiveup_env.doors.text.agent import TextAgent
from fiveup_env.doors.text.environment import TextEnv
from fiveup_env.doors.text.table import TextTable
from fiveup_env.doors.text.talk import Costs

__all__ = ["Costs", "TextAgent", "TextEnv", "TextTable"]
