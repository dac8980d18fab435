"""The engine and a second engine, side by side over millions of random moves.

    python -m tests.engines.soak --moves 100000000 --seed 0

Both play the same deals by the same random actions, under random values of every field, and are
compared after every move: what is allowed, whose turn it is, the open ends, the hands, the tiles
drawn, the scores, and how hands and games end. `second_engine.py` was written from the rules page
alone and shares nothing with the engine. The first difference is printed and ends the soak.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numba import njit

from fiveup_env.engine.chance import chance_below, deal, scramble
from fiveup_env.engine.legality import mark_legal
from fiveup_env.engine.play import begin_hand, play
from fiveup_env.engine.state import GAME, GAME_OVER, PLAYING
from fiveup_env.errors import RulesError
from fiveup_env.native import Array, Struct, compiled
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import CHOICES, MAX_PLAYERS, Rules
from tests.engines import second_engine as second

MOVES_OF_EACH: Final = 20_000  # random moves by one set of rules
MOST_HANDS: Final = 300  # after which a game is given up: under some rules it would never end

# What is compared, beside the actions that are allowed.
NUMBERS: Final = (
    *("the phase", "the turn", "the seat that leads", "the total of the open ends"),
    *("the passes in a row", "the tiles drawn", "the end of the hand", "the winner"),
    *(f"the hand of seat {seat}" for seat in range(MAX_PLAYERS)),
    *(f"the score of side {side}" for side in range(MAX_PLAYERS)),
    *(f"the points of side {side} at the end of the hand" for side in range(MAX_PLAYERS)),
)
PHASE, TURN, LEAD, TOTAL, PASSES, DRAWN, ENDED, WINNER, HANDS = range(9)
SCORES, END_POINTS = HANDS + MAX_PLAYERS, HANDS + 2 * MAX_PLAYERS


@compiled
def look_at_engine(game: Struct, mask: Array, numbers: Array) -> None:
    """Write what the engine allows and what its state is."""
    public = game.public
    if public.phase == PLAYING:
        mark_legal(public, game.hands[public.turn], mask, 0, 0)
    numbers[PHASE] = public.phase
    numbers[TURN] = public.turn if public.phase == PLAYING else -1
    numbers[LEAD], numbers[TOTAL] = public.lead, public.layout.total
    numbers[PASSES], numbers[DRAWN] = public.passes, public.drawn
    numbers[ENDED], numbers[WINNER] = public.ended, public.winner
    for k in range(MAX_PLAYERS):
        numbers[HANDS + k] = game.hands[k]
        numbers[SCORES + k] = public.scores[k]
        numbers[END_POINTS + k] = public.end_points[k]


@njit(cache=False)  # type: ignore[untyped-decorator]
def look_at_second(twin: Any, mask: np.ndarray, numbers: np.ndarray) -> None:
    """Write what the second engine allows and what its state is."""
    if twin.phase == PLAYING:
        second.legal(twin, mask[0])
    numbers[PHASE] = twin.phase
    numbers[TURN] = twin.turn if twin.phase == PLAYING else -1
    numbers[LEAD], numbers[TOTAL] = twin.lead, second.total(twin)
    numbers[PASSES], numbers[DRAWN] = twin.passes, twin.drawn
    numbers[ENDED], numbers[WINNER] = twin.ended, twin.winner
    for k in range(MAX_PLAYERS):
        numbers[HANDS + k] = twin.hands[k]
        numbers[SCORES + k] = twin.scores[k]
        numbers[END_POINTS + k] = twin.end_points[k]


@compiled
def pick(mask: Array, rank: int) -> int:
    """Return the allowed action of a rank."""
    for action in range(ACTION_COUNT):
        rank -= mask[action]
        if rank < 0:
            return action
    return -1


@njit(cache=False)  # type: ignore[untyped-decorator]
def play_both(games: np.ndarray, twins: np.ndarray, key: np.uint64, moves: int) -> tuple[int, int]:
    """Play random moves by both engines; return how many, and the index of a difference or -1."""
    game, twin = games[0], twins[0]
    public = game.public
    masks, theirs = np.zeros((1, ACTION_COUNT), np.int8), np.zeros((1, ACTION_COUNT), np.int8)
    numbers = np.zeros((2, len(NUMBERS)), np.int64)
    made = 0
    public.phase = GAME_OVER
    while made < moves:
        if public.phase == GAME_OVER or public.hand_number >= MOST_HANDS:
            game.seed = scramble(key + np.uint64(made))
            public.hand_number = 0
            public.ended = 0
            for seat in range(5):
                public.scores[seat] = 0
                game.hands[seat] = 0
            second.restart(twin)
        else:
            public.hand_number += 1
        lot = deal(game)
        second.start_hand(twin, game.hands, game.order, lot)
        begin_hand(game, lot)
        while True:
            masks[:], theirs[:] = 0, 0
            look_at_engine(game, masks, numbers[0])
            look_at_second(twin, theirs, numbers[1])
            if (masks != theirs).any():
                return made, len(NUMBERS)
            if (numbers[0] != numbers[1]).any():
                return made, (numbers[0] != numbers[1]).argmax()
            if public.phase != PLAYING:
                break
            action = pick(masks[0], chance_below(game.seed, made, masks.sum()))
            play(game, action)
            second.play(twin, action)
            made += 1
    return made, -1


def random_rules(rng: np.random.Generator) -> Iterator[Rules]:
    """Yield rules with random values of every field, as far as they can be dealt and scored."""
    while True:
        players = int(rng.integers(2, 6))
        multiple = int(rng.integers(2, 13))
        fields: dict[str, Any] = {name: str(rng.choice(words)) for name, words in CHOICES.items()}
        fields |= {
            "players": players,
            "teams": bool(players == 4 and rng.random() < 0.5),
            "hand_size": int(rng.integers(1, 15)),
            "reserve": int(rng.integers(3)),
            "unit": int(rng.choice([1, multiple])),
            "target": int(rng.choice([1, 5, 10, 30, 61, 120])),
            "exact_target": bool(rng.random() < 0.3),
            "multiple": multiple,
            "max_pip": int(rng.integers(1, 7)),
        }
        try:
            yield Rules(**fields)
        except RulesError:
            continue


def soak(moves: int, seed: int, *, report: bool = False) -> tuple[int, int, str | None]:
    """Play this many moves; return the moves, the sets of rules, and the first difference if any."""
    rng, made, count = np.random.default_rng(seed), 0, 0
    started = shown = time.monotonic()
    for count, rules in enumerate(random_rules(rng), 1):
        games = np.zeros(1, GAME)
        games["public"]["rules"] = rules.to_struct()
        struct = rules.to_struct()
        numbers = np.array(
            [rules.teams if name == "teams" else int(struct[name]) for name in second.RULES],
            np.int64,
        )
        twins = np.zeros(1, second.STATE)
        twins[0] = second.new_state(numbers)
        key = rng.integers(2**64 - 1, dtype=np.uint64)
        done, wrong = play_both(games, twins, key, min(MOVES_OF_EACH, moves - made))
        made += done
        if wrong >= 0:
            public = games[0]["public"]
            difference = (
                f"{(*NUMBERS, 'the actions allowed')[wrong]}: a difference under {rules}, seed "
                f"{games[0]['seed']}, hand {public['hand_number']}, after {public['plies']} plays"
            )
            return made, count, difference
        if made >= moves:
            break
        if report and time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"{made:,} moves by {count:,} sets of rules, {made / (shown - started):,.0f}/s")
    return made, count, None


def main() -> int:
    """Soak as long as it is asked for; exit with status 1 at a difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--moves", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    made, count, difference = soak(options.moves, options.seed, report=True)
    print(f"{made:,} moves by {count:,} sets of rules: {difference or 'no difference'}")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
