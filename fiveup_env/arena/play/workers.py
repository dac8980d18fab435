"""The processes that play the chunks, and the one that hands out their tasks.

With a time limit, a worker announces every decision before and after it asks the agent. So a worker
whose agent does not respond can be ended, and the agent named together with its game.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections import deque
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.play.apart import Apart
from fiveup_env.arena.play.clock import AwakeClock
from fiveup_env.arena.play.faults import ArenaError, fault, replayed
from fiveup_env.arena.play.games import (
    Moves,
    Played,
    Request,
    Task,
    all_forfeited,
    moves_by_game,
    play_chunk,
    seatings,
)
from fiveup_env.errors import FiveUpError
from fiveup_env.game.game import Game
from fiveup_env.opponents.mixtures import Mixture
from fiveup_env.opponents.registry import make_agent, register_missing, registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

    from fiveup_env.arena.play.games import Terms
    from fiveup_env.opponents.agent import Agent

GRACE = 2.0  # seconds beyond the limit before a worker that does not respond is ended
READY = 300.0  # seconds for an agent to load, to compile and to make a first move


def play_tasks(tasks: Iterable[Task], terms: Terms, cores: int) -> Iterator[tuple[Task, Played]]:
    """Play all tasks on this many cores; yield each result at once, in any order."""
    if cores == 1 and terms.move_limit == float("inf"):
        player = Player(terms)
        for task in tasks:
            yield task, player.play(task)
    else:
        yield from _Crew(terms, cores).play(tasks)


class Player:
    """A player of tasks in this process, which keeps the agents that it has made."""

    def __init__(
        self, terms: Terms, announce: Callable[[str | Request | None], None] | None = None
    ) -> None:
        """Call `announce` before an agent is made and before every decision; with None after it.

        What the arena itself does in between, such as judging, is not the agent's time.
        """
        self.terms, self.announce = terms, announce
        self.agents: dict[str, Agent | Apart] = {}

    def play(self, task: Task) -> Played:
        """Play a task and return its results; an agent is made once for each spec.

        One whose process has ended is made anew, so that a chunk depends on no other.
        """
        for place, spec in enumerate(task.agents):
            if self.announce:
                self.announce(spec)
            self._make_ready(spec, place)
            if self.announce:
                self.announce(None)
        agents = [self.agents[spec] for spec in task.agents]
        return play_chunk(agents, task.agents, self.terms, task.seeds, self.announce)

    def _make_ready(self, spec: str, place: int) -> None:
        """Let an agent make a move, if it is new, so that loading and compiling are not timed."""
        if spec == self.terms.apart:
            apart = self.agents.get(spec)
            if not isinstance(apart, Apart) or apart.ended:
                apart = self.agents[spec] = Apart(spec, self.terms.move_limit)
            new: Sequence[Agent] = apart.start(seatings(self.terms.rules) == place)
        elif spec not in self.agents:
            made = self.agents[spec] = make_agent(spec)
            new = made.agents if isinstance(made, Mixture) else [made]
        else:
            return
        game = Game(self.terms.rules, seed=0)
        # The games share the cores already, and one thread sums the same way on any machine.
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        for one in new:
            with suppress(Exception):  # it will fail again in a game, where the fault is reported
                one(game.view(), np.random.default_rng(0))


def _work(pipe: Connection, terms: Terms, agents: Mapping[str, str]) -> None:
    """Play tasks from a pipe until it is closed: the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    register_missing(agents)
    player = Player(terms, pipe.send if terms.move_limit != float("inf") else None)
    with suppress(EOFError, BrokenPipeError):
        while True:
            task = pipe.recv()
            try:
                pipe.send(player.play(task))
            except FiveUpError as error:
                pipe.send(ArenaError(str(error)))


class _Worker:
    """A worker process, its current task, and what it has announced about it."""

    def __init__(self, terms: Terms, task: Task) -> None:
        context = multiprocessing.get_context("spawn")
        self.terms = terms
        self.pipe, theirs = context.Pipe()
        work = (theirs, terms, registered())
        self.process = context.Process(target=_work, args=work, daemon=True)
        self.process.start()
        theirs.close()
        self.give(task)

    def give(self, task: Task) -> None:
        self.task, self.deadline = task, float("inf")
        self.asked: str | Request | None = None
        self.log: list[Moves] = []
        self.pipe.send(task)

    def note(self, asked: str | Request | None, now: float) -> None:
        """Note an announcement, and set the deadline for what was announced, if anything was."""
        if asked is None:
            self.deadline = float("inf")
            return
        allowed = READY
        if isinstance(asked, Request):
            allowed = self.terms.move_limit * len(asked.games) + GRACE
            if asked.last:
                self.log.append(asked.last)
        self.asked, self.deadline = asked, now + allowed

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def missed(self) -> Played:
        """Return the forfeits of a task whose agent did not respond, or raise an ArenaError."""
        asked, task = self.asked, self.task
        assert asked
        if isinstance(asked, Request):
            agent = asked.agent
            why = f"did not respond; {self.terms.move_limit:g} seconds a decision are allowed"
        else:
            agent = task.agents.index(asked)
            why = f"did not make a first move within {READY:g} seconds"
        if self.terms.forfeit:
            return all_forfeited(self.terms, task.deals, agent, why)
        name, rules = task.agents[agent], self.terms.rules
        if not isinstance(asked, Request):
            raise ArenaError(f"{name} {why}")
        i = int(asked.games[0])
        moves = moves_by_game(self.log, task.deals * rules.sides)[i]
        game = replayed(rules, int(task.seeds[i // rules.sides]), moves)
        raise ArenaError(fault(name, why, game))


class _Crew:
    """One worker for each core; all are ended when the play is over."""

    def __init__(self, terms: Terms, cores: int) -> None:
        self.terms, self.cores = terms, cores
        self.workers: list[_Worker] = []
        self.clock = AwakeClock()

    def play(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Played]]:
        waiting = deque(tasks)
        with self.clock:
            try:
                while waiting and len(self.workers) < self.cores:
                    self.workers.append(_Worker(self.terms, waiting.popleft()))
                while self.workers:
                    yield from self._finished(waiting)
                    yield from self._overdue(waiting)
            finally:
                for worker in self.workers:
                    worker.end()

    def _finished(self, waiting: deque[Task]) -> Iterator[tuple[Task, Played]]:
        """Wait for the workers, yield finished tasks, and hand out the next ones."""
        nearest = min(worker.deadline for worker in self.workers)
        patience = None if nearest == float("inf") else max(0, nearest - self.clock.now())
        ready = connection.wait([worker.pipe for worker in self.workers], patience)
        for worker in [worker for worker in self.workers if worker.pipe in ready]:
            try:
                message = worker.pipe.recv()
            except (EOFError, ConnectionResetError):
                raise lost(worker.task, "--cores 1 plays them in this process") from None
            if message is None or isinstance(message, (str, Request)):
                worker.note(message, self.clock.now())
            elif isinstance(message, ArenaError):
                raise message
            else:
                done = worker.task
                if waiting:
                    worker.give(waiting.popleft())
                else:
                    self._dismiss(worker)
                yield done, message

    def _overdue(self, waiting: deque[Task]) -> Iterator[tuple[Task, Played]]:
        """End the workers whose agents do not respond, and yield what they forfeit."""
        now = self.clock.now()
        for worker in [worker for worker in self.workers if worker.deadline < now]:
            played = worker.missed()
            self._dismiss(worker)
            if waiting:
                self.workers.append(_Worker(self.terms, waiting.popleft()))
            yield worker.task, played

    def _dismiss(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.end()


def lost(task: Task, more: str) -> ArenaError:
    """Return the error for a task whose worker died; `more` is a cause or a hint."""
    a, b = task.agents
    last = task.first + task.deals - 1
    return ArenaError(f"a worker died while {a} met {b} on deals {task.first} to {last}: {more}")
