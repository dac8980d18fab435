"""The agents of the laboratory: what holds for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import agents
from fiveup_env.opponents import known_agents
from tests.support import PROMISES_OF_AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable

# Every agent but OpenSpiel's, which have tests of their own; it has little to do.
AGENTS = ["ismcts:worlds=8"]


def test_importing_the_laboratory_registers_its_agents() -> None:
    assert agents.__doc__
    names = {spec.partition(":")[0] for spec in AGENTS} | {"openspiel"}
    assert names <= set(known_agents())


@pytest.mark.parametrize("promise", PROMISES_OF_AGENTS)
@pytest.mark.parametrize("spec", AGENTS)
def test_every_agent_keeps_the_promises_of_agents(
    spec: str, promise: Callable[[str], None]
) -> None:
    promise(spec)
