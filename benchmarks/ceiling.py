"""Measure what knowing hidden tiles is worth: `python -m benchmarks.ceiling`.

With `--bound` it bounds what can be won from a heuristic instead (see `benchmarks/bound.py`).

A ladder of information: rollouts that are told some of what is hidden play against the same
rollouts, with as many worlds, that are told nothing. What is told restricts the exact belief from
which worlds are drawn; nothing else differs. A player who is told all hands, and the order of the
boneyard, chooses for one deal what is best in it if `partner` plays on, so its gain bounds what
knowledge of that kind can bring to such rollouts. It does not bound what a better player can win.

Hands are the first of a game, for four players as partners, and margins are in points per hand.
The bound is for any number of players.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.search.relaxation import DEEPEST
from benchmarks.bound import report, schedule
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.arena.tables import columns
from fiveup_env.belief.counting import count_ways, full
from fiveup_env.belief.evidence import read_view
from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import draw_worlds
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Mask, Struct, Word, compiled
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, side_of
from fiveup_env.envs.batch import Batch
from fiveup_env.errors import unknown
from fiveup_env.opponents.ladder import LADDER as RUNGS
from fiveup_env.opponents.playouts import Playout, margin_of, play_to_end
from fiveup_env.opponents.registry import make_agent, split_specs
from fiveup_env.opponents.world_search import playout_of
from fiveup_env.progress import progress
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

FIRST_SEED: Final = 920_000_000
PLAYERS: Final = 4
SIDES: Final = 2
PARTNER, NEXT, LAST, ORDER = 4, 2, 8, 16  # a bit for each seat counted on from the mover; and more
LADDER: Final = {
    "nothing": 0,
    "the partner's hand": PARTNER,
    "the next opponent's hand": NEXT,
    "both opponents' hands": NEXT | LAST,
    "all hands": PARTNER | NEXT | LAST,
    "all hands and the boneyard's order": PARTNER | NEXT | LAST | ORDER,
}


def margins(told: int, seeds: np.ndarray, worlds: int, playout: str) -> np.ndarray:
    """Return what one side that is told something wins from the other, in points, by deal."""
    margin, by = np.zeros(len(seeds)), playout_of(playout)
    for side in range(SIDES):
        batch, turn = Batch(len(seeds), players=PLAYERS, episode="hand", reward="margin"), 0
        batch.reset(seeds)
        live = np.ones(len(seeds), bool)
        while live.any():
            actions, key = batch.mask.argmax(1), np.uint64(scramble(np.uint64(turn)))
            mine = batch.turn % SIDES == side
            for bits, whose in ((told, mine), (0, ~mine)):
                which = np.flatnonzero(live & whose)
                choose(which, batch.views(), batch.states, bits, key, worlds, by, actions)
            batch.step(actions)
            margin[live] += batch.reward[live, side] / SIDES
            live &= ~batch.terminated
            turn += 1
    return margin


@compiled
def choose(
    which: Array,
    views: Array,
    games: Array,
    told: int,
    key: Word,
    count: int,
    playout: Playout,
    actions: Array,
) -> None:
    """Write the best action of some games by rollouts in worlds that agree with what is told."""
    belief, worlds, spare = np.zeros(1, BELIEF), np.zeros(count, GAME), np.zeros(1, GAME)
    legal, means = np.zeros(ACTION_COUNT, np.int64), np.zeros(ACTION_COUNT)
    for i in which:
        view, own = views[i], scramble(key + np.uint64(i))
        number = list_legal(view.public, view.hand, legal)
        if number > 1:
            draw_told(view, games[i], told, own, belief[0], worlds)
            for k in range(number):
                means[k] = mean_of(view, worlds, legal[k], own, playout, spare)
            legal[0] = legal[means[:number].argmax()]
        actions[i] = legal[0]


@compiled
def draw_told(
    view: Struct, game: Struct, told: int, key: Word, belief: Struct, worlds: Array
) -> None:
    """Draw worlds from the belief of a viewer who is told hands of a game, or all of it."""
    if told & ORDER:
        for w in range(len(worlds)):
            worlds[w] = game
        return
    read_view(view, belief)
    for step in range(1, PLAYERS):
        if told >> step & 1:
            seat = (view.seat + step) % PLAYERS
            tell(belief, seat, game.hands[seat])
    ways = count_ways(belief)
    assert ways[0, full(belief)] > 0
    draw_worlds(belief, ways, key, 0, worlds)
    for w in range(len(worlds)):
        worlds[w].public = view.public


@compiled
def tell(belief: Struct, seat: int, hand: Mask) -> None:
    """Restrict a belief to worlds in which a seat holds exactly these tiles."""
    for g in range(belief.group_count):
        group = belief.groups[g]
        if belief.holder[belief.places[group.first]] == seat:
            group.admits &= ~(belief.hidden & ~hand)
        else:
            group.admits &= ~hand


@compiled
def mean_of(
    view: Struct, worlds: Array, action: int, key: Word, playout: Playout, spare: Array
) -> float:
    """Return the mean margin of an action, played out in some worlds."""
    total, side = 0.0, side_of(view.public.rules, view.seat)
    for w in range(len(worlds)):
        spare[0] = worlds[w]
        play(spare[0], action)
        play_to_end(spare[0], playout, scramble(key + np.uint64(w)))
        total += margin_of(spare[0].public, side)
    return total / len(worlds)


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print the ladder, or the bound; return the exit status."""
    return answer("ceiling", lambda: _run(words))


def _run(words: Sequence[str] | None) -> int:
    options = _options(words)
    seeds = np.arange(FIRST_SEED, FIRST_SEED + options.deals, dtype=np.uint64)
    if options.bound:
        agents = {spec: make_agent(spec) for spec in split_specs(options.agents)}
        rules = Rules.preset("five_up", options.players)
        worlds = schedule(options.worlds, options.charged)
        others = f"{options.players - 1} x {options.against}"
        print(f"one seat among {others}, {options.deals:,} deals, base {options.playout}")
        for row in report(rules, seeds, options.against, options.playout, worlds, agents):
            print("{:<39} {:<25} {}".format(*row).rstrip(), flush=True)
        return 0
    rows = [("told", "deals", "points a hand against the same without")]
    for name, told in progress(LADDER.items(), len(LADDER), "rungs"):
        won = margins(told, seeds, options.worlds, options.playout)
        low, high = (ends[0] for ends in interval(resampled_means(won[:, None])))
        rows.append((name, f"{len(won):,}", f"{won.mean():+.2f} ({low:+.2f} .. {high:+.2f})"))
    print(f"{options.worlds} worlds, playouts by {options.playout}")
    print(columns(rows, right={1, 2}))
    return 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--worlds", type=int, default=32)
    parser.add_argument("--playout", default="partner", help="who plays on; the bound's base")
    parser.add_argument("--bound", action="store_true", help="bound what one seat can win")
    parser.add_argument("--against", choices=list(RUNGS), default="greedy")
    parser.add_argument(
        "--players", type=int, default=PLAYERS, help="with --bound: all but one play --against"
    )
    parser.add_argument("--agents", default="", help="with --bound: specs that take the free seat")
    parser.add_argument(
        "--charged", type=int, default=8, help="with --bound: decisions after which to charge"
    )
    options: argparse.Namespace = parser.parse_args(words)
    for name in ("deals", "worlds", "charged"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, not {getattr(options, name)}")
    if options.players != PLAYERS and not options.bound:
        parser.error(f"--players {options.players} goes with --bound: the ladder is for {PLAYERS}")
    if options.charged > DEEPEST:
        parser.error(f"--charged must be at most {DEEPEST}, not {options.charged}")
    if options.bound and options.playout not in RUNGS:
        parser.error(f"with --bound, {unknown('playout', options.playout, RUNGS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
