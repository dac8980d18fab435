"""Measure what partners gain by agreeing on their play before the deal, for convergence.md.

    python -m benchmarks.silence --save

A plan of two partners is a strategy of both, and a mixture of plans is drawn before the deal, by
the two alone. Against opponents whose play is fixed, the best plan is exact: a mixed-integer
program over the pairs of sequences that can occur together. A double oracle finds mixtures against
which no plan of the other side gains: an equilibrium of two sides, with the value of the game
between them (the team-maxmin equilibrium with correlation).
"""

from __future__ import annotations

import argparse
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, csr_array, eye_array, vstack

from agents.results import add_save, publish
from fiveup_env.exact.form import form_of, write_paths
from fiveup_env.exact.solutions import solve
from fiveup_env.exact.values import (
    add_best_replies,
    exploitability,
    nash_conv_of_random,
    reaches,
    write_worth,
)
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fiveup_env.exact.form import Form
    from fiveup_env.files import Json

    Reply = tuple[float, np.ndarray]  # what a plan has, and a profile with it
    Sides = tuple["Side", "Side"]

SHARE: Final = 1e-6  # of the range of payoffs: what seats may still gain after CFR+ ...
MOST_ROUNDS: Final = 2000  # ... or its rounds
GAP: Final = 1e-4  # points that sides may still gain against an equilibrium of theirs
PRECISION: Final = 1e-6  # of a best plan, as a share of what it has
STARTS: Final = 4  # of climbing: from the last plans, and as many random ones
LITTLE: Final = 0.25  # of what best plans gained last


class Side:
    """Two partners, and the pairs of their sequences that can occur together.

    A mixture of plans is an array with the probability that the partners play a pair, ignoring
    chance and others. The first pair is that before all choices.
    """

    def __init__(self, form: Form, seats: tuple[int, int]) -> None:
        self.form, self.seats = form, seats
        nodes, count = form.histories.nodes, len(form.actions)
        paths = np.empty((len(nodes), form.rules.players), np.int32)
        write_paths(nodes, form.state_of, form.firsts, paths)
        base = np.array([count, 1])  # a pair as one number
        choices = np.flatnonzero(np.isin(nodes["seat"], seats))
        keys = paths[choices][:, seats] @ base
        states, before = np.unique(np.c_[form.state_of[choices], keys], axis=0).T
        widths = form.widths[states]
        self.choices = np.repeat(np.arange(len(states)), widths)  # by pair after the first
        self.last = np.arange(widths.sum()) + np.repeat(
            form.firsts[states] - widths.cumsum() + widths, widths
        )
        pairs = np.repeat(np.c_[before // count, before % count], widths, axis=0)
        mover = np.repeat(form.seats[states] == seats[1], widths).astype(int)
        pairs[np.arange(len(pairs)), mover] = self.last
        self.pairs = np.r_[[seats], pairs]
        keys = self.pairs @ base
        order = keys.argsort()
        self.parents = order[np.searchsorted(keys, before, sorter=order)]
        ends = form.ends[:, seats] @ base
        self.ends = order[np.searchsorted(keys, ends, sorter=order)]

    def plan(self, profile: np.ndarray) -> np.ndarray:
        """Return the plan in which the partners play a profile, each by himself."""
        return reaches(self.form, profile)[self.pairs].prod(1)

    def worth(self, other: Side, mixture: np.ndarray) -> np.ndarray:
        """Return what every pair brings this side against a mixture of the other's plans."""
        payoffs = self.form.payoffs[:, self.seats[0]] * mixture[other.ends]
        return np.bincount(self.ends, payoffs, len(self.pairs))

    def best(self, worth: np.ndarray) -> Reply:
        """Return a bound on what plans can have, which a best one comes up to, and that plan.

        The variables are the probabilities of all pairs and all sequences. Those of the first
        partner's sequences are whole numbers, so pairs are products: no more need be whole.
        """
        form, count = self.form, len(self.pairs)
        states = np.repeat(np.arange(len(form.seats)), form.widths)
        players, total = form.rules.players, count + len(form.actions)
        children = np.arange(1, count)
        flows = vstack(
            [
                _flows(self.choices, children, self.parents, total),
                _flows(states, np.arange(count + players, total), count + form.parents, total),
            ]
        )
        # A pair is at most as likely as its last sequence.
        last = np.ones(count - 1), count + self.last, np.arange(count)
        excess = eye_array(count - 1, total, k=1) - csr_array(last, (count - 1, total))
        lowest, whole = np.zeros(total), np.zeros(total)
        lowest[[0, *range(count, count + players)]] = 1
        whole[count + players :] = form.seats[states] == self.seats[0]
        found = milp(
            np.r_[-worth, np.zeros(len(form.actions))],
            constraints=[LinearConstraint(flows, 0, 0), LinearConstraint(excess, -np.inf, 0)],
            bounds=Bounds(lowest, 1),
            integrality=whole,
            options={"mip_rel_gap": PRECISION},
        )
        if not found.success:
            raise RuntimeError(found.message)
        return -found.mip_dual_bound, form.normalised(found.x[count:])

    def climb(self, worth: np.ndarray, profile: np.ndarray) -> Reply:
        """Let the partners reply to each other until neither gains; return the last reply."""
        value, better = -np.inf, True
        while better:
            before = value
            for who in (1, 0):
                value, profile = self._reply(worth, profile, who)
            better = value > before + 1e-10
        return value, profile

    def _reply(self, worth: np.ndarray, profile: np.ndarray, who: int) -> Reply:
        """Return the value of a partner's best reply, and the profile with it."""
        form, seat, brought = self.form, self.seats[who], np.empty(len(profile))
        reach = reaches(form, profile)
        write_worth(self.pairs, np.c_[worth, worth], reach, who, brought)
        add_best_replies(form.seats, form.parents, form.firsts, seat, brought)
        most = np.repeat(np.maximum.reduceat(brought, form.firsts[:-1]), form.widths)
        players = form.rules.players
        chosen = np.r_[np.zeros(players), brought[players:] == most]
        mine = np.r_[np.zeros(players, bool), np.repeat(form.seats == seat, form.widths)]
        return brought[seat], np.where(mine, form.normalised(chosen), profile)


def worths(sides: Sides, mixtures: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return what every pair brings each side against the other's mixture."""
    return [side.worth(sides[1 - k], mixtures[1 - k]) for k, side in enumerate(sides)]


def to_equilibrium(
    sides: Sides, profile: np.ndarray, gap: float
) -> Iterator[tuple[float, list[float]]]:
    """Yield the value of mixtures to the first side, and what the best plan of each side has.

    The mixtures begin as a profile, which is the first yielded. They grow by plans found by
    climbing and, when those gain little, by best ones, until these gain at most `gap` together.
    """
    rng, left = np.random.default_rng(0), np.inf
    profiles, plans = [[profile], [profile]], [[side.plan(profile)] for side in sides]
    payoffs = np.array([[worths(sides, [plans[0][0], plans[1][0]])[0] @ plans[0][0]]])
    while left > gap:
        shares, value = _solved(payoffs)
        brought = worths(sides, [np.tensordot(shares[k], plans[k], 1) for k in (0, 1)])
        found = []
        for side, worth, earlier in zip(sides, brought, profiles, strict=True):
            others = map(side.form.normalised, rng.random((STARTS, len(profile))))
            starts = [*earlier[-STARTS:], *others]
            found.append(max((side.climb(worth, start) for start in starts), key=itemgetter(0)))
        if sum(have for have, _ in found) <= LITTLE * left:
            found = [side.best(worth) for side, worth in zip(sides, brought, strict=True)]
            left = sum(have for have, _ in found)
            yield value, [have for have, _ in found]
        for k, (_, reply) in enumerate(found):
            profiles[k].append(reply)
            plans[k].append(sides[k].plan(reply))
        lead, follow = worths(sides, [plans[0][-1], plans[1][-1]])
        payoffs = np.r_[payoffs, [[-follow @ plan for plan in plans[1][:-1]]]]
        payoffs = np.c_[payoffs, [lead @ plan for plan in plans[0]]]


def _solved(payoffs: np.ndarray) -> tuple[list[np.ndarray], float]:
    """Return the equilibrium of a matrix game, and its value to the side that picks a row."""
    rows, columns = payoffs.shape
    found = linprog(
        np.r_[np.zeros(rows), -1],
        A_ub=np.c_[-payoffs.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0][None],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    if not found.success:
        raise RuntimeError(found.message)
    return [found.x[:rows], -found.ineqlin.marginals], -found.fun


def _flows(choices: np.ndarray, after: np.ndarray, before: np.ndarray, width: int) -> coo_array:
    """Return a row for each choice: what comes after it is as likely as what comes before."""
    into, out = np.arange(len(before)), np.r_[after, before]
    signs = np.r_[np.ones(len(after)), -np.ones(len(before))]
    return coo_array((signs, (np.r_[choices, into], out)), (len(before), width))


def rows_of(form: Form) -> list[Json]:
    """Return a row for random play, for the seats' equilibrium and for the sides'."""
    sides = Side(form, (0, 2)), Side(form, (1, 3))
    uniform, alone = form.uniform(), solve(form, SHARE, MOST_ROUNDS).profile
    steps = []
    for value, best in to_equilibrium(sides, alone, GAP):
        print(f"value {value:.6f}, the sides gain {sum(best):.6f}", flush=True)
        steps.append((value, best))
    return [
        _row("at random", *next(to_equilibrium(sides, uniform, GAP)), nash_conv_of_random(form)),
        _row("each seat by itself", *steps[0], exploitability(form, alone).nash_conv),
        _row("partners together", *steps[-1]),
    ]


def _row(name: str, value: float, best: list[float], seats: float | None = None) -> Json:
    """Return a row of the table, with what seats gain alone and partners gain together."""

    def points(gain: float | None, form: str = ".5f") -> Json | None:
        return None if gain is None else {"value": round(gain, 6), "format": form}

    return {
        "play": name,
        "points to the side that leads": points(value, "+.5f"),
        "all seats gain, each alone": points(seats),
        "the leaders gain together": points(best[0] - value),
        "the others gain together": points(best[1] + value),
    }


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_save(parser)
    options = parser.parse_args()
    publish("silence", keep=options.save, rows=rows_of(form_of(Rules.preset("mini-3", 4))))


if __name__ == "__main__":
    main()
