"""Our agents where OpenSpiel plays, and OpenSpiel's bots where our agents do: docs/openspiel.md."""
