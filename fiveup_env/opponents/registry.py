"""Agents by short specs: `greedy`, `pimc:worlds=200`, `policy:runs/quick/policy,sample=1`.

The class of an agent is a dataclass whose fields are its options, and whose docstring says in its
first line what the agent does. It is registered under a name, either as the class itself or as
`"module:Class"`, which is imported when the agent is asked for. Other packages offer theirs by an
entry point of the group `fiveup.agents`, whose name is the agent's.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin, get_type_hints

from fiveup_env.errors import AgentError, shown, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fiveup_env.opponents.agent import Agent

ENTRY_POINTS = "fiveup.agents"
GAP = "  "

_AGENTS: dict[str, type[Any] | str] = {}


def register_agent(name: str, agent: type[Any] | str) -> None:
    """Make an agent available by its name: its class, or the place of it, `"module:Class"`.

    Registering a class again, as a notebook does when a cell is run again, replaces it.
    """
    former = _AGENTS.get(name, agent)
    if _place_of(former) != _place_of(agent):
        raise AgentError(
            f"there is an agent {name!r} already, {_place_of(former)}; give this one another name"
        )
    _AGENTS[name] = agent


def registered() -> dict[str, str]:
    """Return the place of each registered agent, `"module:Class"`, for another process.

    Left out are those that another process cannot import.
    """
    places = {name: _place_of(agent) for name, agent in _AGENTS.items()}
    return {name: place for name, place in places.items() if _can_be_imported(place)}


def register_missing(places: Mapping[str, str]) -> None:
    """Register the agents of another process that are not registered here, and import none."""
    for name, place in places.items():
        _AGENTS.setdefault(name, place)


def known_agents() -> dict[str, type[Any]]:
    """Return the class of every agent by its name."""
    return {name: load() for name, load in _loaders().items()}


def make_agent(spec: str) -> Agent:
    """Return the agent that a spec such as `name:option=value,option=value` describes."""
    if not isinstance(spec, str):
        raise AgentError(f"the spec of an agent is text such as 'greedy', not {shown(spec)}")
    name, _, text = spec.partition(":")
    agent = agent_class(name)
    made: Agent = agent(**_options(name, agent, text))
    return made


def split_specs(specs: str) -> tuple[str, ...]:
    """Return the specs in a text such as `greedy,pimc:worlds=50,ms=20,random`.

    Commas also separate the options of a spec: a part `option=value` belongs to the spec before it.
    """
    names: list[str] = []
    for part in filter(None, specs.split(",")):
        if names and "=" in part and ":" not in part.partition("=")[0]:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return tuple(names)


def agent_class(name: str) -> type[Any]:
    """Return the class of one agent."""
    loaders = _loaders()
    if name not in loaders:
        raise AgentError(unknown("agent", name, loaders))
    return loaders[name]()


def get_agent(chosen: str | Agent) -> Agent:
    """Return the agent of a spec, or the agent that is given."""
    return chosen if callable(chosen) else make_agent(chosen)


def listing() -> str:
    """Return every agent with what it does and its options, as text."""
    lines, loaders = [], _loaders()
    width = max(map(len, loaders)) + len(GAP)
    for name, load in loaders.items():
        try:
            agent = load()
        except ImportError as error:
            lines.append(f"{name:<{width}}cannot be loaded: {error}")
            continue
        lines.append(f"{name:<{width}}{(agent.__doc__ or '').strip().splitlines()[0]}")
        lines += [
            f"{'':<{width}}{GAP}{field.name}={field.default}{GAP}{field.metadata.get('help', '')}"
            for field in dataclasses.fields(agent)
        ]
    return "\n".join(lines)


def _place_of(agent: type[Any] | str) -> str:
    """Return the module and the name of a class, which outlive a new definition of it."""
    return agent if isinstance(agent, str) else f"{agent.__module__}:{agent.__qualname__}"


def _can_be_imported(place: str) -> bool:
    module, _, name = place.partition(":")
    return module != "__main__" and name.isidentifier()


def _loaders() -> dict[str, Callable[[], type[Any]]]:
    """Return what loads the class of each agent; a registered agent wins over an entry point."""
    return offered() | {name: _loader(agent) for name, agent in _AGENTS.items()}


@cache
def offered() -> dict[str, Callable[[], type[Any]]]:
    """Return what loads each agent of other packages; to look for them reads many files."""
    return {point.name: point.load for point in entry_points(group=ENTRY_POINTS)}


def _loader(agent: type[Any] | str) -> Callable[[], type[Any]]:
    def load() -> type[Any]:
        if not isinstance(agent, str):
            return agent
        module, _, name = agent.partition(":")
        loaded: type[Any] = getattr(import_module(module), name)
        return loaded

    return load


def _options(name: str, agent: type[Any], text: str) -> dict[str, Any]:
    """Return the options of a spec, converted to the types of their fields.

    The value of the first option may stand without its name.
    """
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
        kind = _without_none(kinds[option])
        try:
            options[option] = _READERS.get(kind, kind)(value)
        except ValueError:
            equals = ""
        if not equals:
            raise AgentError(f"{name}: {option} must be a {kind.__name__}, not {shown(value)}")
    return options


def _without_none(kind: Any) -> Any:
    """Return the type that an option has where it is given: of `float | None`, float."""
    if get_origin(kind) not in {Union, UnionType}:
        return kind
    return next(one for one in get_args(kind) if one is not NoneType)


def _finite(text: str) -> float:
    """Return the finite number that a text is."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _flag(text: str) -> bool:
    """Return whether a text says yes: 1 or true, 0 or false."""
    flags = {"1": True, "true": True, "0": False, "false": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]


_READERS: Final[Mapping[type, Callable[[str], Any]]] = {bool: _flag, float: _finite}
