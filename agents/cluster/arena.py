"""The arena's chunks on a cluster: a task of Ray's for each, and the same table as on one machine.

A chunk depends on its seeds and its agents alone, so it does not matter where it is played, nor
how often: what a lost node was playing, Ray has played again elsewhere.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agents.arena.faults import ArenaError
from agents.arena.results import code_version
from agents.arena.workers import Player, lost, play_tasks
from agents.cluster.connection import ClusterError, connect, describe, processors
from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from agents.arena.games import Played, Task, Terms

LIVES: Final = 10  # how often a chunk is played again whose node or process was lost


def play_on_cluster(
    tasks: Iterable[Task], terms: Terms, cores: int
) -> Iterator[tuple[Task, Played]]:
    """Play all tasks, on so many CPUs of the cluster; what is done is handed on at once."""
    ray = connect()
    if cores > processors():
        raise ClusterError(f"--cores {cores} wants {cores} CPUs; {describe()}")
    play = ray.remote(num_cpus=1, max_retries=LIVES)(_play)
    everywhere = ray.put(terms), code_version()
    # Where all CPUs play, a chunk waits for each of them; else no more play than were asked for.
    most = 2 * cores if cores == processors() else cores
    waiting = iter(tasks)
    playing: dict[Any, Task] = {}
    try:
        while True:
            for task in itertools.islice(waiting, most - len(playing)):
                playing[play.remote(task, *everywhere)] = task
            if not playing:
                return
            (done, *_), _ = ray.wait(list(playing))
            task = playing.pop(done)
            yield task, _answer(done, task)
    finally:
        for unfinished in playing:
            ray.cancel(unfinished, force=True)


def _answer(done: Any, task: Task) -> Played:
    """What came of a task, or the error that ends the tournament."""
    import ray

    try:
        told: Played | str = ray.get(done)
    except ray.exceptions.RayError as error:
        raise lost(task, str(error).partition("\n")[0]) from None
    if isinstance(told, str):
        raise ArenaError(told)
    return told


def _play(task: Task, terms: Terms, version: str) -> Played | str:
    """Play a task in a worker process, or say why not."""
    if code_version() != version:
        import ray

        node = ray.util.get_node_ip_address()
        return f"{node} has other code ({code_version()}) than this clone ({version}): update it"
    try:
        if terms.move_limit < float("inf"):
            ((_, played),) = play_tasks([task], terms, 1)
            return played
        return _player(terms).play(task)
    except FiveUpError as error:
        return str(error)


@lru_cache(maxsize=1)
def _player(terms: Terms) -> Player:
    """The player of this process: the agents that it has made are kept from task to task."""
    return Player(terms)
