"""Measure the table in the browser: `python -m benchmarks.table`.

A server of its own is asked through the API, as a browser asks it. First one player makes random
moves against `partner`, and every round trip is timed; then many players play at once, and every
state that comes back is compared with what the same game says in this process.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.timing import add_anyway, quiet
from fiveup_env import Game

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED: Final = 960_000_000


class Player:
    """A visitor with a connection and a cookie of its own."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self._headers = {"Content-Type": "application/json"}
        self.seconds: list[float] = []

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what the server answers, and note how long it took."""
        began = time.perf_counter()
        self._connection.request("POST", path, json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        seconds = time.perf_counter() - began
        if cookie := answer.getheader("Set-Cookie"):
            self._headers["Cookie"] = cookie.partition(";")[0]
        if answer.status not in {http.client.OK, http.client.CREATED}:
            raise AssertionError(f"{path}: {answer.status} {content[:300]!r}")
        self.seconds.append(seconds)
        state: dict[str, Any] = json.loads(content)
        return state

    def play(self, number: int, players: int, opponents: str, most: int) -> int:
        """Play a game, or `most` moves of it, with random moves; return their number."""
        random, seed = Random(number), SEED + number
        state = self.post("/api/tables", {"players": players, "opponents": opponents, "seed": seed})
        table, moves = state["table"], 0
        dealt = [str(tile) for tile in Game(players=players, seed=seed).hand_of(0)]
        assert state["frames"][0]["hand"] == dealt, "another game's hand"
        while not state["over"] and moves < most:
            move = random.choice(state["choices"])["move"]
            body = {"move": move, "version": state["version"]}
            state = self.post(f"/api/tables/{table}/move", body)
            moves += 1
        return moves


@contextmanager
def served() -> Iterator[int]:
    """Start a server, and yield its port."""
    command = [sys.executable, "-m", "fiveup_env", "play", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split()[4].rstrip("/").rpartition(":")[2])
        finally:
            server.terminate()


def main() -> None:
    """Play, and print how long it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=5, help="games whose moves are timed")
    parser.add_argument("--at-once", type=int, default=100, help="games played at the same time")
    parser.add_argument("--moves", type=int, default=10_000, help="of a game, at most")
    add_anyway(parser)
    options = parser.parse_args()
    with quiet(anyway=options.anyway, daemons=True), served() as port:
        Player(port).play(0, 4, "partner", 20)  # compiles
        alone = Player(port)
        moves = sum(alone.play(k, 4, "partner", options.moves) for k in range(1, options.games + 1))
        median, most = 1000 * np.percentile(alone.seconds, (50, 95))
        print(f"{moves} moves against partner: median {median:.0f} ms, 95 % within {most:.0f} ms")
        crowd(port, options.at_once, options.moves)


def crowd(port: int, count: int, most: int) -> None:
    """Play many games at once, by every number of players, and print what came of it."""
    failures: list[str] = []
    moves: list[int] = []

    def sit_and_play(number: int) -> None:
        try:
            moves.append(Player(port).play(number, 2 + number % 4, "random", most))
        except (AssertionError, OSError, http.client.HTTPException) as error:
            failures.append(str(error))

    began = time.monotonic()
    threads = [threading.Thread(target=sit_and_play, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    minutes = (time.monotonic() - began) / 60
    print(f"{len(moves)} of {count} games at once, {sum(moves)} moves, in {minutes:.1f} minutes")
    if failures:
        sys.exit(f"{len(failures)} failed, the first so: {failures[0]}")


if __name__ == "__main__":
    main()
