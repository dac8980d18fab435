"""The arena on a cluster: each chunk is a Ray task, and the table is the same as on one machine.

A chunk depends on its seeds and its agents alone, so it does not matter where or how often it is
played: Ray plays the chunks of a lost node again elsewhere.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agents.cluster.connection import ClusterError, connect, describe, processors
from agents.version import code_version
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.workers import Player, lost, play_tasks
from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from fiveup_env.arena.play.games import Played, Task, Terms

RETRIES: Final = 10  # how often a chunk is played again after its node or process was lost


def play_on_cluster(
    tasks: Iterable[Task], terms: Terms, cores: int
) -> Iterator[tuple[Task, Played]]:
    """Play all tasks on this many CPUs of the cluster; yield each as soon as it is done."""
    ray = connect()
    if cores > processors():
        raise ClusterError(f"--cores {cores} needs {cores} CPUs; {describe()}")
    play = ray.remote(num_cpus=1, max_retries=RETRIES)(_play)
    shared = ray.put(terms), code_version()
    # With all CPUs of the cluster, a second chunk waits for each of them. With fewer, no more
    # chunks are submitted than may be played at once.
    most = 2 * cores if cores == processors() else cores
    waiting = iter(tasks)
    playing: dict[Any, Task] = {}
    try:
        while True:
            for task in itertools.islice(waiting, most - len(playing)):
                playing[play.remote(task, *shared)] = task
            if not playing:
                return
            (done, *_), _ = ray.wait(list(playing))
            task = playing.pop(done)
            yield task, _result(done, task)
    finally:
        for unfinished in playing:
            ray.cancel(unfinished, force=True)


def _result(done: Any, task: Task) -> Played:
    """Return the games of a task, or raise the error that ends the tournament."""
    import ray

    try:
        played: Played | str = ray.get(done)
    except ray.exceptions.RayError as error:
        raise lost(task, str(error).partition("\n")[0]) from None
    if isinstance(played, str):
        raise ArenaError(played)
    return played


def _play(task: Task, terms: Terms, version: str) -> Played | str:
    """Play a task in a worker process; return what was played, or the text of an error."""
    if code_version() != version:
        import ray

        node = ray.util.get_node_ip_address()
        return (
            f"{node} has different code ({code_version()}) from this clone ({version}): update it"
        )
    try:
        if terms.move_limit < float("inf"):
            ((_, played),) = play_tasks([task], terms, 1)
            return played
        return _player(terms).play(task)
    except FiveUpError as error:
        return str(error)


@lru_cache(maxsize=1)
def _player(terms: Terms) -> Player:
    """Return the player of this process, which keeps the agents it has made between tasks."""
    return Player(terms)
