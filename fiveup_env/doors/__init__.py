"""Doors for other minds, and to other libraries, each of these behind an extra of its own.

text       the environment for language models
openspiel  the games in OpenSpiel
textarena  TextArena

Language models as agents are in `fiveup_env.opponents.text`, programs in any language in
`fiveup_env.opponents.programs`.
"""
