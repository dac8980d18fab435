"""Measure how fast the rules run: `python -m benchmarks.engine`.

Everything is measured in every round, the sides of a ratio in turn. Printed are the medians of the
rounds and their ranges.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from agents.results import publish
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import TILES, Game, Rules
from fiveup_env.engine.chance import chance_below, deal, scramble
from fiveup_env.engine.legality import legal_count, nth_legal
from fiveup_env.engine.play import begin_hand, play, start_hand
from fiveup_env.engine.state import GAME, GAME_OVER, PLAYING
from fiveup_env.native import Array, Word, compiled
from fiveup_env.rules.fields import MAX_PLAYERS
from tests.engines.reference import Reference

if TYPE_CHECKING:
    from benchmarks.timing import Round

GAMES = 256
HANDS_OF_EACH = 1_000
IMPORT = "import time; t = time.perf_counter(); import fiveup_env; print(time.perf_counter() - t)"
FIRST_USE = """
import time; t = time.perf_counter()
import fiveup_env
game = fiveup_env.Game(seed=1)
game.push(next(iter(game.legal_moves)))
len(game.legal_moves), game.view(0)
print(time.perf_counter() - t)
"""


@compiled
def play_random_hands(games: Array, key: Word, hands: int) -> int:
    """Play `hands` hands of every game with random legal moves; return the number of moves."""
    moves = 0
    for i in range(len(games)):
        game = games[i]
        public = game.public
        for _ in range(hands):
            while public.phase == PLAYING:
                hand = game.hands[public.turn]
                choice = chance_below(key, moves, legal_count(public, hand))
                play(game, nth_legal(public, hand, choice))
                moves += 1
            if public.phase == GAME_OVER:
                game.seed = scramble(game.seed)
                public.hand_number = 0
                for side in range(MAX_PLAYERS):
                    public.scores[side] = 0
            else:
                public.hand_number += 1
            begin_hand(game, deal(game))
    return moves


def new_games(count: int, rules: Rules) -> np.ndarray:
    """Return `count` games whose first hand is dealt."""
    games = np.zeros(count, GAME)
    games["public"]["rules"] = rules.to_struct()
    games["seed"] = np.arange(count)
    for i in range(count):
        start_hand(games, i)
    return games


def engine_rate(rules: Rules) -> float:
    """Return the moves per second of random play on one core, without observations."""
    games = new_games(GAMES, rules)
    started = time.perf_counter()
    moves = play_random_hands(games, np.uint64(1), HANDS_OF_EACH)
    return moves / (time.perf_counter() - started)


def threads_ratio() -> float:
    """Return how many times as fast two threads play a million hands as one."""
    seconds = {}
    for threads in (1, 2):
        parts = np.array_split(new_games(GAMES, Rules.preset()), threads)
        workers = [
            threading.Thread(
                target=play_random_hands, args=(part, np.uint64(n), 1_000_000 // GAMES)
            )
            for n, part in enumerate(parts)
        ]
        started = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds[threads] = time.perf_counter() - started
    return seconds[1] / seconds[2]


def game_rate() -> float:
    """Return the moves per second through `Game`: list the legal moves, choose one, push it."""
    random, moves, started = Random(1), 0, time.perf_counter()
    while time.perf_counter() - started < 1:
        game = Game(seed=moves)
        while game.outcome() is None:
            legal = list(game.legal_moves)
            game.push(legal[random.randrange(len(legal))])
            moves += 1
    return moves / (time.perf_counter() - started)


def reference_rate(rules: Rules) -> float:
    """Return the moves per second of the reference implementation in tests/."""
    random, moves, seconds = Random(1), 0, 0.0
    while seconds < 1:
        game = Reference(rules.fields(), rules.players, rules.teams)
        tiles = [(tile.low, tile.high) for tile in TILES]
        started = time.perf_counter()
        while game.winner is None:
            random.shuffle(tiles)
            size = rules.hand_size
            hands = [tiles[size * seat : size * (seat + 1)] for seat in range(rules.players)]
            game.deal(hands, tiles[size * rules.players :], random.randrange(rules.players))
            while game.ended is None:
                game.play(random.choice(list(game.legal())))
                moves += 1
        seconds += time.perf_counter() - started
    return moves / seconds


def seconds_of(program: str) -> float:
    """Return the seconds that a program prints, run in a process of its own."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return float(done.stdout)


def measure(rules: Rules) -> Round:
    """Return the figures of one round."""
    engine, reference = engine_rate(rules), reference_rate(rules)
    return {
        "random play by the compiled rules, one core": (
            (engine / 1e6, ".1f", "M moves/s"),
            (engine / reference, ",.0f", "times the literal reference"),
        ),
        "a million random hands on two threads": (
            None,
            (threads_ratio(), ".2f", "times one thread"),
        ),
        "`Game`: `list(legal_moves)` and `push`": ((game_rate(), ",.0f", "moves/s"), None),
        "`import fiveup_env`": ((seconds_of(IMPORT), ".2f", "s"), None),
        "first use": ((seconds_of(FIRST_USE), ".2f", "s"), None),
    }


def main() -> None:
    """Measure and print the table."""
    options, rules = speed_options(__doc__).parse_args(), Rules.preset()
    play_random_hands(new_games(1, rules), np.uint64(0), 1)
    with quiet(anyway=options.anyway):
        rounds = [measure(rules) for _ in range(ROUNDS)]
        publish("engine", keep=options.save, rows=measured(rounds))


if __name__ == "__main__":
    main()
