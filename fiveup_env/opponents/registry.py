"""Agents by short specs: `greedy`, `pimc:worlds=200`, `policy:runs/quick/policy,sample=1`.

An agent is a function of views and a generator, or a class whose instances are called like one. The
class is a dataclass whose fields are its options, and whose docstring says in its first line what
the agent does. A spec has one of these forms, each of which may end in `,option=value`:

    name or name:value   a registered agent; the value is that of its first option
    module:Class         a class or a function of any module that can be imported
    path.zip             a model that Stable-Baselines3 has saved
    program:COMMAND      a program in any language, such as `program:./mybot --level 3`

Agents are registered under a name, either as they are or as `"module:Class"`, which is imported
when the agent is asked for. Other packages offer theirs by an entry point of the group
`fiveup.agents`, whose name is the agent's.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from functools import cache
from importlib.metadata import entry_points
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from fiveup_env.errors import AgentError, shown, unknown
from fiveup_env.opponents.agent import Agent
from fiveup_env.places import PLACE, absent, held_at, is_module, is_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ENTRY_POINTS = "fiveup.agents"
GAP = "  "
SAVED_MODEL: Final = "sb3"  # the agent that plays a zip file of Stable-Baselines3
PROGRAM: Final = "program"  # the agent that is a program of its own, named by its command
TEXT: Final = "text"  # the agent that asks a language model, named by its place
SEATED: Final = ("pair", "seats")  # agents that play by others, named by their specs
MIX: Final = "mix"  # the agent that is one of several, drawn for each episode
_IMPORTABLE: Final = re.compile(r"(?!__main__:)[^:]+:\w+")

# What makes an agent, or is one: a class, or a function.
Source: TypeAlias = "Callable[..., Any]"

_AGENTS: dict[str, Source | str] = {}
_IN_FILES: set[str] = set()


def register_agent(name: str, agent: Source | str, *, in_files: bool = False) -> None:
    """Make an agent available by its name.

    Registering a class again, as a notebook does when a cell is run again, replaces it.

    Args:
        name: What specs call it: letters, digits, `_`, `-`, `+` and `.`.
        agent: A dataclass whose instances are agents, a function that is one, or the place of
            either, `"module:Class"`, which is imported when it is asked for.
        in_files: Whether files of others, such as configs and entries, may name it: whatever its
            options are, it runs no code and opens no file but a policy that a `PolicyName` names.

    Raises:
        AgentError: If there is another agent of that name, or `agent` cannot be used as one.
    """
    if not is_word(name):
        raise AgentError(f"the name of an agent is a word such as 'greedy', not {shown(name)}")
    if isinstance(agent, str):
        if not PLACE.fullmatch(agent):
            raise AgentError(f"the place of an agent is written module:Class, not {shown(agent)}")
    else:
        _check_source(agent)
    former = _AGENTS.get(name, agent)
    if _place_of(former) != _place_of(agent):
        raise AgentError(
            f"there is an agent {name!r} already, {_place_of(former)}; give this one another name"
        )
    _AGENTS[name] = agent
    (_IN_FILES.add if in_files else _IN_FILES.discard)(name)


def can_begin(name: str) -> bool:
    """Return whether specs can begin with a name: that of an agent, or of a module that is here."""
    return name in _AGENTS or name in offered() or is_module(name.partition(".")[0])


def begins_spec(part: str) -> bool:
    """Return whether a part of a text between commas begins with an agent, not with an option."""
    name = re.split("[:=]", part, maxsplit=1)[0]
    known = name in _AGENTS or name in offered() or name.endswith(".zip")
    return known or PLACE.match(part) is not None


def names_in_files() -> list[str]:
    """Return the names of the agents that files of others may name."""
    return [name for name in _AGENTS if name in _IN_FILES]


def registered() -> dict[str, str]:
    """Return the place of each registered agent, `"module:Class"`, for another process.

    Left out are those that another process cannot import.
    """
    places = {name: _place_of(agent) for name, agent in _AGENTS.items()}
    return {name: place for name, place in places.items() if _IMPORTABLE.fullmatch(place)}


def register_missing(places: Mapping[str, str]) -> None:
    """Register the agents of another process that are not registered here, and import none."""
    for name, place in places.items():
        _AGENTS.setdefault(name, place)


def known_agents() -> dict[str, Source]:
    """Return the class, or the function, of every agent by its name."""
    return {name: load() for name, load in _loaders().items()}


def make_agent(spec: str) -> Agent:
    """Return the agent that a spec describes.

    Args:
        spec: Such as `greedy`, `pimc:worlds=200`, `policy:FOLDER`, `module:Class`, `model.zip`.

    Raises:
        AgentError: If there is no such agent, or it does not have such an option.

    >>> make_agent("pimc:worlds=50,playout=partner").worlds
    50
    """
    name, source, text = resolved(spec)
    made: Agent = source
    if isinstance(source, type):
        options = options_in(name, source, text)
        for needed in needed_options(source):
            if needed not in options:
                raise AgentError(f"{name} needs its {needed}: {name}:{needed}=...")
        made = source(**options)
    elif text:
        raise AgentError(f"{name} is a function, which has no options, not {shown(text)}")
    return made


def resolved(spec: str) -> tuple[str, Source, str]:
    """Return the parts of a spec: the name, the class or function, and the options as text."""
    name, text = split_name(spec)
    loaders = _loaders()
    if name in loaders:
        return name, loaders[name](), text
    place, _, options = text.partition(",")
    if is_place(f"{name}:{place}"):
        source = _loader(f"{name}:{place}")()
        _check_source(source)
        return f"{name}:{place}", source, options
    raise AgentError(
        f"{unknown('agent', name, loaders)}; an agent of your own is named module:Class"
    )


def split_name(spec: object) -> tuple[str, str]:
    """Return the name of the agent that a spec begins with, and the options as text."""
    if not isinstance(spec, str):
        raise AgentError(f"the spec of an agent is text such as 'greedy', not {shown(spec)}")
    if spec.partition(",")[0].endswith(".zip") and not spec.startswith(f"{SAVED_MODEL}:"):
        return SAVED_MODEL, spec
    name, _, text = spec.partition(":")
    return name, text


def needed_options(agent: Source) -> list[str]:
    """Return the options that an agent cannot do without."""
    missing = dataclasses.MISSING
    return [
        field.name
        for field in _fields_of(agent)
        if field.init and field.default is missing and field.default_factory is missing
    ]


def split_specs(specs: str) -> tuple[str, ...]:
    """Return the specs in a text such as `greedy,pimc:worlds=50,ms=20,random`.

    Commas also separate the options of a spec: a part `option=value` belongs to the spec before it.
    All that follows a mixture belongs to it, up to the next one.
    """
    names: list[str] = []
    for part in filter(None, specs.split(",")):
        mixed = names and names[-1].startswith(f"{MIX}:") and not part.startswith(f"{MIX}:")
        if mixed or (names and "=" in part and ":" not in part.partition("=")[0]):
            names[-1] += f",{part}"
        else:
            names.append(part)
    return tuple(names)


def get_agent(chosen: str | Agent) -> Agent:
    """Return the agent of a spec, or the agent that is given; raise AgentError if it is neither."""
    if not callable(chosen):
        return make_agent(chosen)
    if isinstance(chosen, type):
        raise AgentError(f"an agent is an instance of a class, not the class {shown(chosen)}")
    _check_source(chosen)
    return chosen


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
        about = (agent.__doc__ or "").strip().splitlines() or [""]
        lines.append(f"{name:<{width}}{about[0]}".rstrip())
        for field in _fields_of(agent):
            default = "" if field.default is dataclasses.MISSING else field.default
            option = f"{field.name}={default}{GAP}{field.metadata.get('help', '')}"
            lines.append(f"{'':<{width}}{GAP}{option}")
    return "\n".join(lines)


def is_word(name: object) -> bool:
    """Return whether specs can name an agent like this."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z][\w+.-]*", name) is not None


def _check_source(agent: Any) -> None:
    """Raise AgentError unless this is a function of views and rng, or a class of such functions."""
    call, given = agent, 2
    if isinstance(agent, type):
        own = (vars(base) for base in agent.__mro__)
        call, given = next((names["__call__"] for names in own if "__call__" in names), None), 3
    if not callable(call):
        raise AgentError(
            "an agent is a function of views and rng, or a class whose instances are called like "
            f"one, not {shown(agent)}"
        )
    try:
        inspect.signature(call).bind(*[None] * given)
    except TypeError:
        raise AgentError(
            f"an agent is called with views and rng, which {shown(agent)} does not take"
        ) from None
    except ValueError:  # a function of C that says nothing of its parameters
        return


def _fields_of(agent: Source) -> tuple[dataclasses.Field[Any], ...]:
    """Return the options of an agent."""
    return dataclasses.fields(agent) if dataclasses.is_dataclass(agent) else ()


def _place_of(agent: Source | str) -> str:
    """Return the module and the name of a class, which outlive a new definition of it."""
    if isinstance(agent, str):
        return agent
    return f"{agent.__module__}:{getattr(agent, '__qualname__', '<object>')}"


def _loaders() -> dict[str, Callable[[], Source]]:
    """Return the loader of each agent; a registered one wins over an entry point."""
    return offered() | {name: _loader(agent) for name, agent in _AGENTS.items()}


@cache
def offered() -> dict[str, Callable[[], Source]]:
    """Return the loader of each agent of other packages; looking for them reads many files."""
    return {point.name: point.load for point in entry_points(group=ENTRY_POINTS)}


def _loader(agent: Source | str) -> Callable[[], Source]:
    def load() -> Source:
        if not isinstance(agent, str):
            return agent
        loaded: Source | None = held_at(agent)
        if loaded is None:
            raise AgentError(absent(agent))
        return loaded

    return load


def options_in(name: str, agent: type[Any], text: str) -> dict[str, Any]:
    """Return the options of a spec, converted to the types of their fields.

    The value of the first option may stand without its name. An option that is an agent takes the
    parts that follow it and name no option here: they are that agent's own. All of the text is a
    mixture's members.
    """
    if name == MIX:
        return {"members": text}
    kinds = get_type_hints(agent)
    fields = [field.name for field in _fields_of(agent)]
    parts = [part for part in text.split(",") if part]
    if parts and fields:
        option, equals, _ = parts[0].partition("=")
        if option not in fields and not (equals and is_word(option)):
            parts[0] = f"{fields[0]}={parts[0]}"
    members = [field for field in fields if Agent in get_args(kinds[field])]
    settings: list[str] = []
    for part in parts:
        option = part.partition("=")[0]
        if option not in fields and settings and settings[-1].partition("=")[0] in members:
            settings[-1] += f",{part}"
        else:
            settings.append(part)
    options: dict[str, Any] = {}
    for part in settings:
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
    return next(member for member in get_args(kind) if member is not NoneType)


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
