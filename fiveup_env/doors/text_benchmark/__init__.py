"""The benchmark of players through text: `fiveup benchmark fiveup-text-v1 --agents greedy-reader`.

protocol    what is played, from the data file beside it
vocabulary  the same game in other words
readers     who reads a prompt and writes an answer, and the scripted ones
play        the hands, and the card

docs/understand/text-benchmark.md says what it measures, and how a model is entered.
"""
