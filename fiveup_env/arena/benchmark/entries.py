"""Entries of the leaderboard: cards with their authors' notes, and how they are checked.

An entry holds no games: its deals are those of the protocol, so they are played again. Or a sample
is, on fresh deals that nobody knew when the entry was made: whoever has learnt the public ones by
heart does better on them than on others.
"""

from __future__ import annotations

import math
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fiveup_env.arena.benchmark import card as cards
from fiveup_env.arena.benchmark.figures import figures_of
from fiveup_env.arena.benchmark.games import meetings_of, play
from fiveup_env.arena.benchmark.isolated import rows_of
from fiveup_env.arena.benchmark.protocol import QUICK, SIZES, read_protocol
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.results import agent_digest, code_version
from fiveup_env.checks import finite
from fiveup_env.errors import AgentError, shown
from fiveup_env.files import Json, file_path
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.trust import check_spec
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from fiveup_env.arena.benchmark.protocol import Protocol

FORMAT: Final = "fiveup-entry"
VERSION: Final = 1
NOTES: Final = ("name", "authors", "note", "training", "budget")
CLOSE: Final = 1e-4  # relative; figures are kept with six digits
# Standard errors by which a public score may be better, in a task or in all. Of honest entries with
# four tasks, less than one in a thousand goes beyond.
BEYOND_CHANCE: Final = 4.0
WIDTH: Final = 2 * 1.96  # of a 95 % interval, in standard errors
FIRSTS: Final = 1 << 62  # how many first deals there are to draw from: below those of training


class EntryError(ArenaError):
    """An entry that is refused; the message names the field that is wrong."""


def entry_of(card: Json, notes: Json) -> Json:
    """Return an entry, whose notes are texts."""
    return {"format": FORMAT, "version": VERSION, **{n: notes[n] for n in NOTES}, "card": card}


def read_json(path: str | os.PathLike[str]) -> Json:
    """Return the object in a file of JSON."""
    try:
        content = parse_json(file_path(path).read_bytes())
    except ValueError as error:
        raise EntryError(f"{path} is not valid JSON: {shown(error, str)}") from None
    if not isinstance(content, dict):
        raise EntryError(f"{path} holds {shown(content)}, not an object")
    return content


class Entry:
    """An entry whose form is right; `check_again` and `check_fresh` say whether it is true."""

    def __init__(self, content: Json, folder: Path | None = None, *, trust: bool = False) -> None:
        """Read an entry, or raise EntryError.

        Args:
            content: What its file holds.
            folder: That of the file, in which a policy may lie.
            trust: Whether the agent may be one that runs code: a program or a module.
        """
        self._folder, self._trust = folder, trust
        check_form(content, {"card": {"protocol": TEXT, "size": SIZE}}, part=True)
        self.content, self.card = content, content["card"]
        self.protocol: Protocol = read_protocol(self.card["protocol"])
        self.size: str = self.card["size"]
        check_form(content, _form(self.protocol, self.size))
        self.spec: str = self.card["agent"]

    @property
    def agent(self) -> str:
        """The spec, for playing; raises EntryError if an entry that is not trusted may not."""
        if not self._trust:
            try:
                check_spec(self.spec, self._folder)
            except AgentError as error:
                raise EntryError(
                    f"card.agent: {error}; --trust plays what somebody else's entry names"
                ) from None
        return self.spec

    def check_agent(self) -> None:
        """Raise EntryError unless the agent is here, with the same files."""
        make_agent(self.agent)
        digest = agent_digest(self.agent)
        if self.card["agent_digest"] != digest:
            raise EntryError(
                f"card.agent_digest is {shown(self.card['agent_digest'])}, but the files of "
                f"{self.spec} here have {digest}: the entry is stale, or its files are missing"
            )

    def check_again(self, cores: int = 1) -> None:
        """Play everything again; raise EntryError where a figure differs."""
        figures = _figures(self.protocol, self.agent, self.size, cores)
        minis = list(rows_of(self.agent, self.protocol.minis_of(self.size)))
        why = f"played again by this code ({code_version()}; the entry's is {self.card['code']}),"
        for name, value in (figures | {"minis": minis}).items():
            _compare(f"card.{name}", self.card[name], value, why)

    def check_fresh(self, deals: int, seed: int, cores: int = 1) -> None:
        """Raise EntryError if the entry's games are better than games on deals of the seed.

        The agent meets each of the panel on that many deals in every task.
        """
        firsts = keyed_rng("fresh deals", seed).integers(FIRSTS, size=len(self.protocol.tasks))
        tasks = zip(self.protocol.tasks, firsts.tolist(), strict=True)
        fresh = replace(
            self.protocol,
            judge=None,
            tasks=tuple(replace(task, first=first, quick=deals) for task, first in tasks),
        )
        figures = _figures(fresh, self.agent, QUICK, cores)
        compared = [
            (_win_rate(public), _win_rate(again))
            for public, again in zip(self.card["tasks"], figures["tasks"], strict=True)
        ]
        every = [_mean(column) for column in zip(*compared, strict=True)]
        names = [f"in the task {task.name}" for task in self.protocol.tasks]
        for where, (public, again) in zip(
            (*names, "in all tasks"), (*compared, every), strict=True
        ):
            beyond = (public.value - again.value) / math.hypot(public.error, again.error)
            if beyond > BEYOND_CHANCE:
                raise EntryError(
                    f"{where} the agent has {public.value:.1%} of the public games and "
                    f"{again.value:.1%} on {deals} fresh deals: that is better by {beyond:.1f} "
                    "standard errors, as if it knew the public deals"
                )


class _Rate(NamedTuple):
    """A win rate and its standard error."""

    value: float
    error: float


def _win_rate(row: Json) -> _Rate:
    """Return the win rate of a task over the panel; its error is the most that it may be.

    The deals are the same against each of the panel, so the errors do not cancel out.
    """
    rates = np.array([*row["win_rates"].values()])
    return _Rate(float(rates[:, 0].mean()), float((rates[:, 2] - rates[:, 1]).mean()) / WIDTH)


def _mean(rates: tuple[_Rate, ...]) -> _Rate:
    """Return the mean of rates that do not depend on each other."""
    values, errors = zip(*rates, strict=True)
    return _Rate(sum(values) / len(values), math.hypot(*errors) / len(errors))


def _figures(protocol: Protocol, spec: str, size: str, cores: int) -> Json:
    """Play the games of a card, and return its figures."""
    with TemporaryDirectory() as folder:
        results = list(play(protocol, spec, size, folder, cores))
    played = zip(protocol.tasks, results, strict=True)
    return figures_of(
        protocol, [meetings_of(protocol, task, spec, result) for task, result in played]
    )


# --- Form


class Kind(NamedTuple):
    """A kind of value, and how a message names it."""

    name: str
    fits: Callable[[Any], bool]


def _is_estimate(value: Any) -> bool:
    """Return whether a value is an estimate, whose ends may lack."""
    if not isinstance(value, list) or len(value) != 3 or finite(value[0]) is None:
        return False
    return all(end is None or finite(end) is not None for end in value)


def _is_bounded(value: Any) -> bool:
    return _is_estimate(value) and None not in value


def _is_positive(value: Any) -> bool:
    number = finite(value)
    return value is None or (number is not None and number >= 0)


TEXT: Final = Kind("a text", lambda value: isinstance(value, str))
NOTE: Final = Kind("a text", lambda value: isinstance(value, str) and bool(value.strip()))
SIZE: Final = Kind(f"one of {', '.join(SIZES)}", lambda value: value in SIZES)
YES_OR_NO: Final = Kind("true or false", lambda value: isinstance(value, bool))
COUNT: Final = Kind("a count", lambda value: type(value) is int and value >= 0)
NUMBER: Final = Kind("a number of 0 or more, or null", _is_positive)
ESTIMATE: Final = Kind("a value and its interval", _is_estimate)
RATE: Final = Kind("a value and its interval", _is_bounded)
ERROR: Final = Kind("a value and its interval, or null", lambda x: x is None or _is_bounded(x))
USAGE: Final = Kind("no usage", lambda value: value == {})  # language models have no entries


def _form(protocol: Protocol, size: str) -> Json:
    """Return the form of an entry: kinds, and values that are as they must be."""
    sums = {"error_rate": ERROR, "forfeits": COUNT}
    task = {"elo": ESTIMATE, "fault": TEXT, "win_rates": dict.fromkeys(protocol.panel, RATE)}
    mini = {"nash_conv": NUMBER, "of_random": NUMBER, "exact": YES_OR_NO, "fault": TEXT}
    cost = {"seconds_per_move": NUMBER, "megabytes": NUMBER, "usage": USAGE}
    card = {
        "format": cards.FORMAT,
        "version": cards.VERSION,
        "protocol": protocol.name,
        "protocol_digest": protocol.digest,
        "size": size,
        **dict.fromkeys(("agent", "agent_digest", "code"), TEXT),
        "score": ESTIMATE,
        **sums,
        "tasks": [
            {"task": one.name, "deals": one.deals(size)} | sums | task for one in protocol.tasks
        ],
        "minis": [{"mini": one.preset} | mini for one in protocol.minis_of(size)],
        cards.TIMES: cost | {"machine": TEXT, "software": TEXT},
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        **dict.fromkeys(NOTES, NOTE),
        "card": card,
    }


def check_form(value: Any, form: Any, where: str = "", *, part: bool = False) -> None:
    """Raise EntryError at the first place where a value does not fit a form; see `_form`.

    With `part`, objects may hold more than the form says.
    """
    if isinstance(form, Kind):
        fits, wanted = form.fits(value), form.name
    elif isinstance(form, dict):
        fits, wanted = isinstance(value, dict), "an object"
    elif isinstance(form, list):
        fits, wanted = isinstance(value, list) and len(value) == len(form), f"a list of {len(form)}"
    else:
        fits, wanted = value == form and type(value) is type(form), shown(form)
    if not fits:
        raise EntryError(f"{where} is {shown(value)}, not {wanted}")
    if isinstance(form, dict):
        _check_object(value, form, where and f"{where}.", part=part)
    elif isinstance(form, list):
        for k, pair in enumerate(zip(value, form, strict=True)):
            check_form(*pair, f"{where}[{k}]")


def _check_object(value: Json, form: Json, inside: str, *, part: bool) -> None:
    if not part and (strange := [name for name in value if name not in form]):
        raise EntryError(f"there is no {shown(inside + strange[0], str)} in an entry")
    for name, kind in form.items():
        if name not in value:
            raise EntryError(f"{inside}{name} is missing")
        check_form(value[name], kind, inside + name, part=part)


def _compare(where: str, said: object, now: object, why: str) -> None:
    """Raise EntryError at the first part in which two values of one form differ."""
    if isinstance(now, dict) and isinstance(said, dict):
        for name in now:
            _compare(f"{where}.{name}", said[name], now[name], why)
    elif isinstance(now, list) and isinstance(said, list):
        for k, pair in enumerate(zip(said, now, strict=True)):
            _compare(f"{where}[{k}]", *pair, why)
    elif not _same(said, now):
        raise EntryError(f"{where} is {shown(said)}, but {why} {shown(now)}")


def _same(said: object, now: object) -> bool:
    if isinstance(now, float) and isinstance(said, (int, float)):
        return math.isclose(said, now, rel_tol=CLOSE, abs_tol=CLOSE**2)
    return said == now
