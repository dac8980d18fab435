"""Doors for other minds, and to other libraries, each of these behind an extra of its own.

text       the environment for language models, and language models as agents
mcp        a table for language models, as a server of the Model Context Protocol
openspiel  the games in OpenSpiel
textarena  TextArena
openenv    OpenEnv: a server of environments, and its client
trl        TRL: episodes whose moves are tools
verifiers  Verifiers: models at one table, each in a conversation of its own

Agents that are programs in any language have a room of their own, `fiveup_env.programs`.
"""
