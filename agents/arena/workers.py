"""Chunks on all cores: processes that play, and one that hands the tasks out.

With a limit of time, a worker tells of every decision before it asks for it. So a worker that
hears nothing more from an agent can be ended, and the agent named with the game that it was in.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING

import numpy as np

from agents.arena.faults import ArenaError, fault, replayed
from agents.arena.games import (
    Decision,
    Moves,
    Played,
    Task,
    all_forfeited,
    moves_by_game,
    play_chunk,
)
from fiveup_env.errors import FiveUpError
from fiveup_env.game.game import Game
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

    from agents.arena.games import Terms
    from fiveup_env.opponents.agent import Agent

GRACE = 2.0  # seconds beyond the limit before a worker that does not answer is ended
READY = 300.0  # seconds that an agent may take to load, to compile and to make a first move


def play_tasks(tasks: Iterable[Task], terms: Terms, cores: int) -> Iterator[tuple[Task, Played]]:
    """Play all tasks, on so many cores; what is done is handed on at once, in any order."""
    if cores == 1 and terms.move_limit == float("inf"):
        player = Player(terms)
        for task in tasks:
            yield task, player.play(task)
    else:
        yield from _Crew(terms, cores).play(tasks)


class Player:
    """Plays tasks in this process, and keeps the agents that it has made."""

    def __init__(self, terms: Terms, tell: Callable[[str | Decision], None] | None = None) -> None:
        """Play on some terms, and tell whom it gets ready, and what it asks of them."""
        self.terms, self.tell = terms, tell
        self.agents: dict[str, Agent] = {}

    def play(self, task: Task) -> Played:
        """Play a task with agents made from their specs."""
        for spec in task.agents:
            if spec not in self.agents:
                if self.tell:
                    self.tell(spec)
                self.agents[spec] = self._ready(spec)
        agents = [self.agents[spec] for spec in task.agents]
        return play_chunk(agents, task.agents, self.terms, task.seeds, self.tell)

    def _ready(self, spec: str) -> Agent:
        """An agent that has loaded and compiled all that it needs: no move is charged for that."""
        agent, game = make_agent(spec), Game(self.terms.rules, seed=0)
        # One thread: the cores are shared by games, and sums come out the same on any of them.
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        with suppress(Exception):  # what it does wrong it will do again, where it is watched
            agent(game.view(), game.action_mask()[None], np.random.default_rng(0))
        return agent


def _work(pipe: Connection, terms: Terms) -> None:
    """Be a worker: play tasks until there are none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    player = Player(terms, pipe.send if terms.move_limit != float("inf") else None)
    with suppress(EOFError, BrokenPipeError):
        while True:
            task = pipe.recv()
            try:
                pipe.send(player.play(task))
            except FiveUpError as error:
                pipe.send(ArenaError(str(error)))


class _Worker:
    """A process, the task that it is at, and what it has told of it."""

    def __init__(self, terms: Terms, task: Task) -> None:
        context = multiprocessing.get_context("spawn")
        self.terms = terms
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, terms), daemon=True)
        self.process.start()
        theirs.close()
        self.give(task)

    def give(self, task: Task) -> None:
        self.task, self.deadline = task, float("inf")
        self.asked: str | Decision | None = None
        self.log: list[Moves] = []
        self.pipe.send(task)

    def note(self, asked: str | Decision) -> None:
        """Hear whom it gets ready, or what it is about to ask; the time runs from now on."""
        allowed = READY
        if isinstance(asked, Decision):
            allowed = self.terms.move_limit * len(asked.which) + GRACE
            if asked.last:
                self.log.append(asked.last)
        self.asked, self.deadline = asked, time.monotonic() + allowed

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def missed(self) -> Played:
        """What comes of a task whose agent did not answer: forfeits, or an ArenaError."""
        asked, task = self.asked, self.task
        assert asked
        agent = asked.agent if isinstance(asked, Decision) else task.agents.index(asked)
        if self.terms.forfeit:
            return all_forfeited(self.terms, task.deals, agent)
        name, rules = task.agents[agent], self.terms.rules
        if not isinstance(asked, Decision):
            raise ArenaError(f"{name} did not make a first move within {READY:g} seconds")
        i = int(asked.which[0])
        moves = moves_by_game(self.log, task.deals * rules.sides)[i]
        game = replayed(rules, int(task.seeds[i // rules.sides]), moves)
        why = f"did not answer; {self.terms.move_limit:g} seconds a decision are allowed"
        raise ArenaError(fault(name, why, game))


class _Crew:
    """Workers, one a core, none of whom outlives the play."""

    def __init__(self, terms: Terms, cores: int) -> None:
        self.terms, self.cores = terms, cores
        self.workers: list[_Worker] = []

    def play(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Played]]:
        waiting = deque(tasks)
        try:
            while waiting and len(self.workers) < self.cores:
                self.workers.append(_Worker(self.terms, waiting.popleft()))
            while self.workers:
                yield from self._what_is_done(waiting)
                yield from self._what_is_late(waiting)
        finally:
            for worker in self.workers:
                worker.end()

    def _what_is_done(self, waiting: deque[Task]) -> Iterator[tuple[Task, Played]]:
        """Hear the workers, and give those that are done their next tasks."""
        nearest = min(worker.deadline for worker in self.workers)
        patience = None if nearest == float("inf") else max(0, nearest - time.monotonic())
        heard = connection.wait([worker.pipe for worker in self.workers], patience)
        for worker in [worker for worker in self.workers if worker.pipe in heard]:
            try:
                told = worker.pipe.recv()
            except (EOFError, ConnectionResetError):
                raise lost(worker.task, "--cores 1 plays them in this process") from None
            if isinstance(told, (str, Decision)):
                worker.note(told)
            elif isinstance(told, ArenaError):
                raise told
            else:
                done = worker.task
                if waiting:
                    worker.give(waiting.popleft())
                else:
                    self._dismiss(worker)
                yield done, told

    def _what_is_late(self, waiting: deque[Task]) -> Iterator[tuple[Task, Played]]:
        """End the workers whose agents do not answer."""
        now = time.monotonic()
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
    """What to say of a task whose worker did not come back, and more."""
    a, b = task.agents
    last = task.first + task.deals - 1
    return ArenaError(f"a worker died while {a} met {b} on deals {task.first} to {last}: {more}")
