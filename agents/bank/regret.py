"""What agents lose on the bank: the regret of their actions, with intervals, by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.bank.positions import PHASES, phases_of
from agents.bank.storage import BankError
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.errors import unknown
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.rules.fields import MAX_PLAYERS, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agents.bank.storage import Bank
    from fiveup_env.opponents.agent import Agent

NEAR: Final = 10  # points to go on the cribbage scale
CLEARLY: Final = 3.0  # standard errors by which an action must be worse to be a mistake

# A mean and the bounds of its 95 % interval.
Rate = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Measured:
    """What an agent lost on a bank."""

    agent: str
    regrets: np.ndarray  # by position, in chances to win the game
    mistakes: np.ndarray  # by position, whether the action is clearly worse than the best


def measure(bank: Bank, agent: Agent, name: str, seed: int = 0) -> Measured:
    """Return what an agent loses on a bank; `name` is its name in messages."""
    masks = bank.masks
    actions = np.asarray(agent(bank.views.copy(), keyed_rng("bank", seed)))
    if actions.shape != (len(bank),) or actions.dtype.kind not in "iu":
        raise BankError(
            f"{name} returned an array of {actions.dtype} of shape {actions.shape}; {len(bank)} "
            "views need one integer each"
        )
    inside = (actions >= 0) & (actions < masks.shape[1])
    legal = inside & (masks[np.arange(len(bank)), np.where(inside, actions, 0)] > 0)
    if not legal.all():
        raise BankError(
            f"{name} chose actions that are not allowed in {np.count_nonzero(~legal):,} of "
            f"{len(bank):,} positions"
        )
    actions = actions.astype(np.int64)
    every, means = np.arange(len(bank)), bank.values.means
    behind = means.max(1) - means[every, actions]
    mistakes = behind > CLEARLY * bank.values.errors[every, actions]
    return Measured(name, bank.values.regrets(actions), mistakes)


def mean_regret(bank: Bank, agent: Agent, name: str) -> Rate:
    """Return an agent's mean regret on a bank."""
    return _rates(bank, [measure(bank, agent, name).regrets])[0]


def groups_of(bank: Bank) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield kinds of groups, names, and masks of the positions, all positions first."""
    yield "all", "all", np.ones(len(bank), np.bool_)
    phases = phases_of(bank.views)
    for k, phase in enumerate(PHASES):
        yield "phase", phase, phases == k
    public, rules = bank.views["public"], bank.views["public"]["rules"]
    sides = np.arange(MAX_PLAYERS) < rules["sides"][:, None]
    most = np.where(sides, public["scores"], np.iinfo(np.int32).min).max(1)
    near = rules["target"] - most <= NEAR * rules["unit"]
    yield "score", f"more than {NEAR} points to go", ~near
    yield "score", f"{NEAR} points to go, or less", near
    different, which = np.unique(rules, return_inverse=True)
    made = [Rules.from_struct(one) for one in different]
    for kind, labels in (
        ("preset", [one.name or "custom" for one in made]),
        ("players", [f"{one.players} players" for one in made]),
    ):
        for label in sorted(set(labels)):
            yield kind, label, np.isin(which, [k for k, one in enumerate(labels) if one == label])


def part_of(bank: Bank, kind: str, name: str) -> Bank:
    """Return the positions of one group."""
    named = {other: which for other_kind, other, which in groups_of(bank) if other_kind == kind}
    if name not in named:
        raise BankError(unknown(f"{kind} of this bank", name, named))
    return bank.part(named[name])


def rows_of(bank: Bank, measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return a row for every agent: its regret in all, against the first agent's, and by group."""
    groups = [(kind, name, which) for kind, name, which in groups_of(bank) if which.any()]
    rows = []
    for one in measured:
        more = one.regrets - measured[0].regrets
        parts = [np.where(which, one.regrets, np.nan) for _, _, which in groups]
        (more_mean, *more_ci), *by_group = _rates(bank, [more, *parts])
        rows.append(
            {
                "agent": one.agent,
                "mistakes": float(one.mistakes.mean()),
                "more_than_first": more_mean,
                "more_than_first_ci": more_ci,
                "groups": [
                    {
                        "kind": kind,
                        "name": name,
                        "positions": int(which.sum()),
                        "regret": mean,
                        "regret_ci": ci,
                    }
                    for (kind, name, which), (mean, *ci) in zip(groups, by_group, strict=True)
                ],
            }
        )
    return rows


def _rates(bank: Bank, columns: Sequence[np.ndarray]) -> list[Rate]:
    """Return the mean of each column with its interval."""
    means, resampled = resampled_rates(bank, columns)
    return list(zip(means.tolist(), *map(np.ndarray.tolist, interval(resampled)), strict=True))


def resampled_rates(bank: Bank, columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each column, and that over resampled games: a row for each resample.

    Positions where a column is NaN do not count for it.
    """
    values = np.array(columns).T
    _, games = np.unique(bank.games, return_inverse=True)
    sums = np.zeros((games.max() + 1, 2, values.shape[1]))
    np.add.at(sums, games, np.stack([np.nan_to_num(values), ~np.isnan(values)], 1))
    means = sums[:, 0].sum(0) / sums[:, 1].sum(0)
    resampled = resampled_means(sums.reshape(len(sums), -1)).reshape(-1, *sums.shape[1:])
    some = resampled[:, 1] > 0  # else no game of the resample has a position that counts
    rates = np.tile(means, (len(resampled), 1))
    np.divide(resampled[:, 0], resampled[:, 1], rates, where=some)
    return means, rates
