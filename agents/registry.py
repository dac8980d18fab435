"""Agents by short specs: `greedy`, `pimc:worlds=200`, `policy:runs/quick/policy,sample=1`.

An agent is a policy (`fiveup_env.opponents.Policy`): views, masks and a generator in, actions out;
a single decision is a batch of one. Its class is a dataclass whose fields are its options, and
whose docstring says what it does. Other packages offer theirs by an entry point of the group
`fiveup.agents`, whose name is the agent's.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, get_type_hints

from fiveup_env.errors import FiveUpError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.opponents import Policy

ENTRY_POINTS = "fiveup.agents"
ROOMS = (  # where agents register themselves
    "agents.play.heuristics",
    "agents.play.search",
    "agents.play.trees",
    "agents.play.endgame",
    "agents.learn.policies",
    "agents.learn.thinking",
    "agents.openspiel.bots",
)


class AgentError(FiveUpError):
    """A spec that names no agent, or an option that the agent does not have."""


_AGENTS: dict[str, type[Any]] = {}


def register(name: str) -> Callable[[type[Any]], type[Any]]:
    """Let a dataclass of an agent be chosen by a name."""

    def keep(agent: type[Any]) -> type[Any]:
        if name in _AGENTS:
            raise AgentError(f"there is an agent {name!r} already")
        _AGENTS[name] = agent
        return agent

    return keep


def known_agents() -> dict[str, type[Any]]:
    """Every agent by name: those here, then those of other packages."""
    for room in ROOMS:
        import_module(room)
    others = {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
    return others | _AGENTS


def make_agent(spec: str) -> Policy:
    """The agent that a spec such as `name:option=value,option=value` describes."""
    name, _, text = spec.partition(":")
    known = known_agents()
    if name not in known:
        raise AgentError(unknown("agent", name, known))
    return known[name](**_options(name, known[name], text))


def _options(name: str, agent: type[Any], text: str) -> dict[str, Any]:
    """The options of a spec, each of its field's type; the first one's value may come bare."""
    kinds = get_type_hints(agent)
    fields = [field.name for field in dataclasses.fields(agent)]
    parts = [part for part in text.split(",") if part]
    if parts and fields and "=" not in parts[0] and parts[0] not in fields:
        parts[0] = f"{fields[0]}={parts[0]}"
    options: dict[str, Any] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        if option not in fields:
            raise AgentError(unknown(f"option of {name}", option, fields or ["none"]))
        kind = kinds[option]
        try:
            options[option] = _flag(value) if kind is bool else kind(value)
        except ValueError:
            equals = ""
        if not equals:
            raise AgentError(f"{name}: {option} must be a {kind.__name__}, not {value!r}")
    return options


def _flag(text: str) -> bool:
    """Whether a text says yes: 1 or true, 0 or false."""
    flags = {"1": True, "true": True, "0": False, "false": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]


def listing() -> str:
    """Every agent with what it does and its options, for people."""
    lines = []
    for name, agent in known_agents().items():
        lines.append(f"{name:<12}{(agent.__doc__ or '').strip().splitlines()[0]}")
        lines += [
            f"{'':<12}  {field.name}={field.default}  {field.metadata.get('help', '')}"
            for field in dataclasses.fields(agent)
        ]
    return "\n".join(lines)
