"""Doors for other minds, and to other libraries, each of these behind an extra of its own.

text       the environment for language models
mcp        a table for language models, as a server of the Model Context Protocol
openspiel  the games in OpenSpiel
textarena  TextArena

Language models as agents are in `fiveup_env.opponents.text`, programs in any language in
`fiveup_env.programs`.
"""
