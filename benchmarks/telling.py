"""Measure what moves tell about hidden tiles: `python -m benchmarks.telling --save`.

Agents play games with copies of themselves. In positions of these, worlds are drawn from the exact
belief, and models of players weigh them by how likely they make the others' moves of the hand. What
a model tells is the logarithm of how much more it lets the true deal count than a possible one
counts on average. `itself` is a model that plays as the agent does: no model can tell more.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.fitting.fitting import BURN_IN, played
from benchmarks.results import add_save, publish
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.search.inference import log_weights, shipped_model
from fiveup_env.opponents.search.kinds import RUNGS, SHARES, UNITS, Kinds, kinds_by, log_of_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fiveup_env.files import Json

    Model = Callable[[np.ndarray, np.ndarray], np.ndarray]

SEED: Final = 2_500_000_000
# The agents, and the network or the rung that plays as each of them does.
PLAYERS: Final = {
    "policy:partners": "partners",
    "policy:family": "family",
    "partner": "partner",
    "pimc:worlds=200": None,
    "level:4": None,
}
NORMAL: Final = 1.96


@compiled
def weigh(worlds: Array, seat: int, kinds: Kinds, logs: Array) -> None:
    """Write how much each of the worlds of a seat's view counts."""
    for w in range(len(worlds)):
        logs[w] = log_of_kinds(worlds[w], seat, kinds)


def by_kinds(network: str, shares: tuple[float, ...] = SHARES) -> Model:
    """Return the mixture of kinds, one of which is a network."""
    kinds = kinds_by(PolicyAgent(network).weights, shares)

    def logs_of(view: np.ndarray, worlds: np.ndarray) -> np.ndarray:
        logs = np.empty(len(worlds))
        weigh(worlds, int(view["seat"][0]), kinds, logs)
        return logs

    return logs_of


def by_one_kind(network: str, kind: int) -> Model:
    """Return a single kind: a rung of the ladder, or the network."""
    return by_kinds(network, tuple(float(k == kind) for k in range(len(SHARES))))


def models(itself: str | None) -> dict[str, Model]:
    """Return the models that weigh the worlds of an agent's games."""
    first = len(SHARES) - len(UNITS)
    found: dict[str, Model] = {
        "the linear model": lambda view, worlds: log_weights(view, worlds, shipped_model()),
        "the small network": by_one_kind("student", first),
        "five kinds": by_kinds("student"),
    }
    if itself in RUNGS:
        found["itself"] = by_one_kind("student", 1 + RUNGS.index(itself))
    elif itself:
        found["itself"] = by_one_kind(itself, len(SHARES) - 1)
    return found


def positions(player: str, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield views with a choice, from games of one agent, each with its true state."""
    rng = np.random.default_rng(SEED)
    for batch, views, _ in played(player, SEED, BURN_IN):
        choices = np.flatnonzero(batch.action_mask.sum(1) > 1)
        for i in rng.choice(choices, -(-count // BURN_IN), replace=False):
            yield views[i : i + 1].copy(), batch.states[i : i + 1].copy()


def told(logs: np.ndarray) -> float:
    """Return how much more the first of some worlds counts than the others do on average."""
    highest = logs[1:].max()
    return float(logs[0] - highest - np.log(np.exp(logs[1:] - highest).mean()))


def measure(player: str, itself: str | None, count: int, worlds: int) -> Json:
    """Return what every model tells in the games of an agent, in nats."""
    rng, weighing = np.random.default_rng(SEED + 1), models(itself)
    tells: dict[str, list[float]] = {name: [] for name in weighing}
    for view, state in positions(player, count):
        drawn = worlds_to_games(view, sample(view, worlds, rng))
        for name, model in weighing.items():
            tells[name].append(told(model(view, np.concatenate([state, drawn]))))
    row: Json = dict.fromkeys(models("partner"), "")
    for name, values in tells.items():
        mean, error = np.mean(values), NORMAL * np.std(values) / len(values) ** 0.5
        low, value, high = (round(float(end), 3) for end in (mean - error, mean, mean + error))
        row[name] = {"value": value, "ci": [low, high], "format": ".2f"}
    return row


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--positions", type=int, default=2000, help="of the games of an agent")
    parser.add_argument("--worlds", type=int, default=500, help="in which a position is weighed")
    add_save(parser)
    options = parser.parse_args()
    rows = [
        {"moves of": f"`{player}`"} | measure(player, itself, options.positions, options.worlds)
        for player, itself in PLAYERS.items()
    ]
    publish("telling", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
