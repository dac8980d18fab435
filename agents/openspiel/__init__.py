"""Our agents in OpenSpiel, and OpenSpiel's bots as agents of ours: see docs/use/openspiel.md."""
