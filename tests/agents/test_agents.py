"""The agents of the laboratory."""

from __future__ import annotations

import agents
from fiveup_env.opponents import known_agents


def test_importing_the_laboratory_registers_its_agents() -> None:
    assert agents.__doc__
    assert "openspiel" in known_agents()
