"""Measurements in a subprocess: the memory of an agent, and the exact mini games.

An agent that does not respond is ended with its process, and the card says so.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.arena.benchmark.figures import rounded
from fiveup_env.arena.play.games import Task, Terms
from fiveup_env.arena.play.workers import READY, Player
from fiveup_env.errors import shown
from fiveup_env.exact.form import form_of
from fiveup_env.exact.profiles import profile_of
from fiveup_env.exact.values import exploitability, nash_conv_of_random
from fiveup_env.opponents.action_probabilities import Mixed
from fiveup_env.opponents.registry import make_agent, register_missing, registered
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

    from fiveup_env.arena.benchmark.protocol import Mini, Protocol
    from fiveup_env.exact.form import Form
    from fiveup_env.files import Json
    from fiveup_env.opponents.agent import Agent

ALIVE = "alive"  # what the process says between its figures
ASKED = 3  # how often an agent is asked to see whether its choices vary
SEEN = 1_000  # the information states in which that is seen


def measure(protocol: Protocol, spec: str, size: str) -> tuple[float | None, list[Json]]:
    """Return the megabytes that an agent takes, None if unknown, and its rows of the mini games.

    Nothing is measured of an agent that the protocol does not let play in a process of its own.
    """
    if not protocol.apart:
        return None, []
    minis = protocol.minis_of(size)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    work = (theirs, registered(), protocol, spec, minis)
    process = context.Process(target=_work, args=work, daemon=True)
    process.start()
    theirs.close()
    figures: list[Any] = []
    with suppress(EOFError, ConnectionResetError):
        while len(figures) <= len(minis) and ours.poll(READY):
            if (message := ours.recv()) != ALIVE:
                figures.append(message)
    process.kill()
    process.join()
    why = f"did not respond within {READY:g} seconds, or its process ended"
    rows = figures[1:] + [_row(mini, fault=why) for mini in minis[max(0, len(figures) - 1) :]]
    return figures[0] if figures else None, rows


def _work(
    pipe: Connection,
    agents: Mapping[str, str],
    protocol: Protocol,
    spec: str,
    minis: Sequence[Mini],
) -> None:
    """Measure and send the megabytes, then the rows: the main function of the process."""
    register_missing(agents)
    pipe.send(_megabytes(protocol, spec))
    for row in rows_of(spec, minis, lambda: pipe.send(ALIVE)):
        pipe.send(row)


def _megabytes(protocol: Protocol, spec: str) -> float | None:
    """Return by how much an agent's games raise the peak of the memory above that of `random`.

    The memory of an agent that is a program of its own is that of its process.
    """
    peaks, programs = [], list[float]()
    for played in ("random", spec):
        for task in protocol.tasks:
            player = Player(Terms(task.rules, forfeit=True))
            player.play(Task((played, played), task.first, 1))
            pids = [getattr(agent, "pid", None) for agent in player.agents.values()]
            programs += [_peak(pid) or 0 for pid in pids if pid is not None]
        peaks.append(_peak("self"))
    before, after = peaks
    if before is None or after is None:
        return None
    return after - before + max(programs, default=0)


def _peak(process: int | str) -> float | None:
    """Return the peak of a process's memory in megabytes, where the system says so."""
    status = Path(f"/proc/{process}/status")
    peak = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(peak[1]) / 1000 if peak else None


def rows_of(
    spec: str, minis: Sequence[Mini], answered: Callable[[], None] | None = None
) -> Iterator[Json]:
    """Yield the rows of an agent in mini games; call `answered` whenever it has responded."""
    for mini in minis:
        form = form_of(Rules.preset(mini.preset, mini.players))
        try:
            agent = make_agent(spec)
            if "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(1)
            if answered and not isinstance(agent, Mixed):
                agent = _announcing(agent, answered)
            yield _solved(mini, form, agent)
        except Exception as error:  # noqa: BLE001  (whatever it raises, the card says so)
            yield _row(mini, fault=shown(f"raised {type(error).__name__}: {error}", str))


def _announcing(agent: Agent, answered: Callable[[], None]) -> Agent:
    """Return an agent that plays as another does, and says that it has responded."""

    def ask(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        chosen = agent(views, rng)
        answered()
        return chosen

    ask.__name__ = type(agent).__name__
    return ask


def _solved(mini: Mini, form: Form, agent: Agent) -> Json:
    """Return the row of an agent in a mini game."""
    reports = isinstance(agent, Mixed) and getattr(agent, "sample", True)
    exact = reports or _always_the_same(form, agent)
    profile = profile_of(form, agent, 1 if exact else mini.times)
    if not np.isfinite(profile).all():
        return _row(mini, fault="has probabilities that are not finite")
    nash_conv = exploitability(form, profile).nash_conv
    return _row(mini, nash_conv, nash_conv / nash_conv_of_random(form), exact=exact)


def _always_the_same(form: Form, agent: Agent) -> bool:
    """Return whether an agent's choices do not vary with chance, as far as is seen."""
    views = form.views
    some = views[np.unique(np.linspace(0, len(views) - 1, SEEN).astype(int))]
    chosen = [np.asarray(agent(some.copy(), np.random.default_rng(k))) for k in range(ASKED)]
    return all((actions == chosen[0]).all() for actions in chosen)


def _row(
    mini: Mini,
    nash_conv: float | None = None,
    of_random: float | None = None,
    *,
    exact: bool = False,
    fault: str = "",
) -> Json:
    return {
        "mini": mini.preset,
        "nash_conv": rounded(nash_conv),
        "of_random": rounded(of_random),
        "exact": exact,
        "fault": fault,
    }
