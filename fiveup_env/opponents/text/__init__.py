"""Language models as agents, and everything else that answers text with text.

prompts     the question to a model, and the move in its answer
vocabulary  the same game in other words
agent       the agent `text:module:Model`
"""

from fiveup_env.opponents.text.agent import TextAgent

__all__ = ["TextAgent"]
