"""Measure what is left for a search to gain: `python -m benchmarks.ceiling`.

One search plays four partners' Five Up against `partner`, with its worlds as they come, weighed by
the linear model of the others' moves, and weighed by `partner` itself: how likely the very player
in the other seats is to make the moves that it made. So exact a model is what no player has who
meets others, and what it wins bounds the best answer, one move at a time, to players as they are.
It does not bound what partners win who change together. The policy without search plays, too.

The results file keeps what was played: the same command continues after an interruption, and with
more `--deals` (a multiple of 5) it adds to it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from agents.results import add_save, cell, publish
from benchmarks.crossplay import difference
from fiveup_env import Rules
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.statistics.duels import duel_between, duel_of
from fiveup_env.belief.worlds import count_worlds, draw_worlds
from fiveup_env.cli.shared import answer
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Mask, Struct, Word, compiled, inlined, signed
from fiveup_env.engine.exponentials import log
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, side_of
from fiveup_env.engine.view import as_views
from fiveup_env.opponents.heuristics.features import EQUAL, SCRATCH, look_around, value_of
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.search.action_values import SKIPPED, try_actions
from fiveup_env.opponents.search.dealing import BLOCK, dealing_of
from fiveup_env.opponents.search.inference import go_back, made
from fiveup_env.opponents.search.network_search import PolicySearch
from fiveup_env.opponents.search.units import Units
from fiveup_env.opponents.search.world_search import Work, name_streams
from fiveup_env.opponents.search.world_statistics import LOWEST, WorldStatistics, add_worlds
from fiveup_env.rules.actions import DRAW

if TYPE_CHECKING:
    from fiveup_env.arena.statistics.duels import Duel
    from fiveup_env.files import Json

RIVAL: Final = "partner"
EXACT: Final = "benchmarks.ceiling:Exact,path=partners,worlds=1000"
ARMS: Final = {  # specs, by how a page names them
    "weighed by `partner` itself": EXACT,
    "weighed by the linear model, 8 for each": "policy+search:partners,worlds=1000",
    "as they come": "policy+search:partners,worlds=1000,weighed=1",
    "none: the policy without search": "policy:partners",
}
RULES: Final = Rules.preset("five_up", 4)
SEED: Final = 5_500_000_000
CHUNK: Final = 5  # deals of one task: the arms differ by a hundred times in what a deal takes

CANDIDATES: Final = 1 << 13  # worlds that are weighed for a decision, at most
LAPSES: Final = np.array([0.001, 0.3])  # the searcher's partner searches, and is no `partner`
SHARE: Final = 0.1  # of the heaviest world's weight, below which a lot decides (see `deal_worlds`)
_S11: Final = np.uint64(11)


@dataclass
class Exact(PolicySearch):
    """Plays a policy that looks ahead in worlds weighed by `partner` itself."""

    def search(self, views: np.ndarray, rng: np.random.Generator) -> WorldStatistics:
        """Return what worlds show about the actions that the network does not rule out."""
        views = as_views(views)
        units = Units(views, self._reward)
        statistics, keys = self._prior(views, units), np.empty(len(views), np.uint64)
        name_streams(np.uint64(rng.integers(1 << 63)), keys)
        work = Work(
            views,
            keys,
            units.chances,
            units.table_indices,
            dealing_of(1),
            self._playout,
            np.zeros(self.worlds, GAME),
            statistics.evidence,
            statistics.candidates,
            statistics.products,
        )
        player = Player(weights_of(RIVAL), LAPSES, np.zeros(1, GAME), np.zeros(1, SCRATCH))
        search_exactly(statistics.undecided, work, player)
        return statistics


class Player(NamedTuple):
    """The heuristic in the other seats, and memory for asking how likely it makes a move."""

    weights: np.ndarray
    lapses: np.ndarray  # the share of moves made at random: by opponents, and by one's partner
    past: np.ndarray
    scratch: np.ndarray


@compiled
def search_exactly(indices: Array, work: Work, player: Player) -> None:
    """Try the open actions of some views in worlds that are weighed by the player."""
    most, logs = work.candidates.shape[1], np.empty(len(work.games))
    actions, values = np.empty(most, np.int64), np.empty((BLOCK, most, 1))
    for i in indices:
        view, evidence, candidates = work.views[i], work.evidence[i], work.candidates[i]
        side, outlooks = side_of(view.public.rules, view.seat), (work.chances[work.tables[i]],)
        kept = deal_worlds(view, work.keys[i], work.dealing.belief[0], player, work.games, logs)
        for start in range(0, kept, BLOCK):
            if evidence.open == 0:
                break
            worlds, own = work.games[start:kept][:BLOCK], logs[start:kept][:BLOCK]
            for k in range(evidence.count):
                actions[k] = candidates[k].action if candidates[k].open else SKIPPED
            try_actions(worlds, actions[: evidence.count], work.playout, side, outlooks, values)
            tried = values[: len(worlds)].reshape((len(worlds), most))
            add_worlds(evidence, candidates, work.products[i], tried, own)


@compiled
def deal_worlds(
    view: Struct, key: Word, belief: Struct, player: Player, worlds: Array, logs: Array
) -> int:
    """Fill worlds of a view, write their log weights, and return how many there are.

    A candidate that is lighter than SHARE of the heaviest is kept with the chance of its weight in
    that share, and then counts for all of it. So it can be dropped before all moves are weighed.
    """
    ways, kept, heaviest = count_worlds(view, belief), 0, LOWEST
    for n in range(CANDIDATES):
        if kept == len(worlds):
            break
        draw_worlds(belief, ways, key, n, worlds[kept : kept + 1])
        worlds[kept].public = view.public
        worlds[kept].seed = scramble(~key + np.uint64(n))
        lot = (np.float64(scramble(worlds[kept].seed) >> _S11) + 1) * 2.0**-53
        counted = heaviest + log(SHARE)
        floor = counted + log(lot)
        weight = log_likelihood(worlds[kept], view.seat, player, floor)
        if weight >= floor:
            logs[kept] = max(weight, counted)
            heaviest = max(heaviest, weight)
            kept += 1
    return kept


@inlined
def log_likelihood(world: Struct, seat: int, player: Player, floor: float) -> float:
    """Return the logarithm of how likely the others make their moves, or a number below a floor."""
    public, past, total = world.public, player.past[0], 0.0
    go_back(world, past)
    while past.public.plies < public.plies:
        action, mover = made(past.public, public), signed(past.public.turn)
        if action < DRAW and mover != seat:
            own = side_of(public.rules, mover) == side_of(public.rules, seat)
            total += log(chance_of(past.public, past.hands[mover], action, player, int(own)))
            if total < floor:
                break
        play(past, action)
    return total


@inlined
def chance_of(public: Struct, hand: Mask, action: int, player: Player, own: int) -> float:
    """Return the probability that the player makes a move with a hand."""
    weights, scratch = player.weights, player.scratch[0]
    count, equals = list_legal(public, hand, scratch.actions), 1
    if count == 1:
        return 1.0
    unseen = look_around(public, hand, weights, scratch)
    value = value_of(public, hand, unseen, action, weights, scratch)
    for k in range(count):
        option = signed(scratch.actions[k])
        if option >= DRAW or option == action:
            continue
        other = value_of(public, hand, unseen, option, weights, scratch)
        if other > value + EQUAL:
            return player.lapses[own] / count
        equals += other >= value - EQUAL
    return (1 - player.lapses[own]) / equals + player.lapses[own] / count


def row(worlds: str, duel: Duel, exact: Duel) -> Json:
    """Return the row of an arm, compared with the exact one on the same deals."""
    behind = exact.margins - duel.margins
    return {
        "worlds": worlds,
        "deals": len(duel.wins),
        "win rate (%)": cell(duel.wins.mean(), duel.win_interval(), ".1%"),
        "points a hand": cell(duel.margins.mean(), duel.margin_interval(), "+,.2f"),
        "exact model gains": difference(behind, "+,.2f") if behind.any() else "",
    }


def main() -> int:
    """Play what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_save(parser)
    parser.add_argument("--deals", type=int, default=400, help="of each arm (default: 400)")
    parser.add_argument("--cores", type=int, default=1, help="processes that play (default: 1)")
    parser.add_argument(
        "--results", default="ceiling.jsonl", metavar="FILE", help="what was played"
    )
    options = parser.parse_args()
    agents = (*ARMS.values(), RIVAL)
    tournament = Tournament(agents, Terms(RULES), options.deals, SEED, RIVAL, CHUNK)
    outcome = play_tournament(tournament, options.cores, options.results)
    if outcome.interrupted:
        return 1
    pairs = {pair: duel_of(outcome.chunks_of(pair), RULES) for pair in tournament.meetings}
    duels = {spec: duel_between(spec, RIVAL, pairs, RULES.sides) for spec in ARMS.values()}
    rows = [row(worlds, duels[spec], duels[EXACT]) for worlds, spec in ARMS.items()]
    publish("ceiling", keep=options.save, rows=rows)
    return 0


if __name__ == "__main__":
    sys.exit(answer("ceiling", main))
