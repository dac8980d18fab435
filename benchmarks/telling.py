"""Measure what moves tell about hidden tiles: `python -m benchmarks.telling --save`.

Agents play games with copies of themselves. In positions of these, worlds are drawn from the exact
belief, and models of players weigh them by how likely they make the others' moves of the hand. What
a model tells is the logarithm of how much more it lets the true deal count than a possible one
counts on average. `itself` is a model that plays as the agent does, and hardly ever otherwise.

`five kinds` are a mixture: the linear model, which is soft, as it must fit every player; two rungs
of the ladder; and the small network, sharp and soft. It is not known which of them plays a side, so
the likelihood of a side's moves in a world is the mean, over the kinds, of the product of what each
gives the moves: they say both how likely the world is and who plays there.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from agents.fitting.fitting import BURN_IN, played
from benchmarks.results import add_save, publish
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.engine.compiled import Array, Struct, compiled, inlined, signed
from fiveup_env.engine.exponentials import exp, log
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, side_of
from fiveup_env.engine.view import observe
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    look_around,
    write_features,
)
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.networks.compiled import Memory, Weights, memory_for, write_logits
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.search.inference import (
    go_back,
    log_weights,
    made,
    shipped_model,
)
from fiveup_env.opponents.search.units import take_back_points
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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

RUNGS: Final = ("partner", "greedy")
SHARP: Final = 0.1  # points by which a rung may err
UNITS: Final = (0.07, 0.25)  # differences of the network's logits that count as one
# Of the soft model, the rungs, and the network by each of UNITS:
LAPSES: Final = (0.1, 0.01, 0.01, 0.01, 0.05)  # the share of moves at random
EXACT: Final = 0.01  # points or logits by which an agent may err against itself
EXACT_LAPSE: Final = 0.001  # the share of its moves at random
SHARES: Final = (0.3, 0.2, 0.1, 0.3, 0.1)  # how frequent each kind is taken to be


class Kinds(NamedTuple):
    """The kinds of player, and the memory to tell them apart."""

    rungs: np.ndarray  # kinds x features
    network: Weights
    units: np.ndarray  # of the kinds that are the network's
    lapses: np.ndarray
    shares: np.ndarray
    memory: Memory
    past: np.ndarray
    actions: np.ndarray
    worths: np.ndarray  # kinds x actions
    chances: np.ndarray  # sides x kinds


def kinds_by(network: Weights, shares: Sequence[float] = SHARES) -> Kinds:
    """Return the kinds of player: the model of `inference`, rungs of the ladder, and a network."""
    soft = shipped_model()["weights"][0]
    return Kinds(
        rungs=np.stack([soft, *(weights_of(name) / SHARP for name in RUNGS)]),
        network=network,
        units=np.array(UNITS),
        lapses=np.array(LAPSES),
        shares=np.array(shares),
        memory=memory_for(network),
        past=np.zeros(1, GAME),
        actions=np.zeros(ACTION_COUNT + 1, np.int64),
        worths=np.zeros((len(shares), ACTION_COUNT)),
        chances=np.zeros((MAX_PLAYERS, len(shares))),
    )


@compiled
def log_of_kinds(world: Struct, seat: int, kinds: Kinds) -> float:
    """Return how much a world counts by the others' moves, whatever kind each side is of."""
    past, public, chances = kinds.past[0], world.public, kinds.chances
    go_back(world, past)
    past.public.rules.target = public.rules.target  # which a network reads, as the scores
    past.public.scores = public.scores
    take_back_points(public, kinds.memory.features[0].layout, past.public.scores)
    chances[:] = kinds.shares
    while past.public.plies < public.plies:
        action, mover = made(past.public, public), signed(past.public.turn)
        if action < DRAW and mover != seat and past.public.sizes[mover] > 1:
            _read(past, mover, action, kinds)
        play(past, action)
    total = 0.0
    for side in range(public.rules.sides):
        total += log(chances[side].sum())
    return total


@inlined
def _read(past: Struct, mover: int, action: int, kinds: Kinds) -> None:
    """Multiply the chances of a side's kinds by those of its move."""
    public, hand, worths = past.public, past.hands[mover], kinds.worths
    scratch, rungs = kinds.memory.features[0], len(kinds.rungs)
    count = list_legal(public, hand, kinds.actions)
    if count == 1:
        return
    observe(past, mover, kinds.memory.views[0])
    write_logits(kinds.memory.views[0], kinds.network, kinds.memory)
    unseen = look_around(public, hand, EVERY_FEATURE, scratch)
    for k in range(count):
        option = signed(kinds.actions[k])
        for unit in range(len(kinds.units)):
            worths[rungs + unit, k] = kinds.memory.logits[0, option] / kinds.units[unit]
        if option >= DRAW:
            worths[:rungs, k] = -np.inf
            continue
        write_features(public, hand, unseen, option, EVERY_FEATURE, scratch)
        for kind in range(rungs):
            worths[kind, k] = 0.0
            for name in range(len(FEATURE_NAMES)):
                worths[kind, k] += kinds.rungs[kind, name] * scratch.features[name]
    side = side_of(public.rules, mover)
    for kind in range(len(worths)):
        best, total, taken = -np.inf, 0.0, 0.0
        for k in range(count):
            best = max(best, worths[kind, k])
        for k in range(count):
            share = exp(worths[kind, k] - best)
            total += share
            taken = share if kinds.actions[k] == action else taken
        lapse = kinds.lapses[kind]
        kinds.chances[side, kind] *= (1 - lapse) * taken / total + lapse / count


@compiled
def weigh(worlds: Array, seat: int, kinds: Kinds, logs: Array) -> None:
    """Write how much each of the worlds of a seat's view counts."""
    for w in range(len(worlds)):
        logs[w] = log_of_kinds(worlds[w], seat, kinds)


def by(kinds: Kinds) -> Model:
    """Return the model that is a mixture of kinds."""

    def logs_of(view: np.ndarray, worlds: np.ndarray) -> np.ndarray:
        logs = np.empty(len(worlds))
        weigh(worlds, int(view["seat"][0]), kinds, logs)
        return logs

    return logs_of


def by_one_kind(network: str, kind: int) -> Kinds:
    """Return a single kind: a rung of the ladder, or the network."""
    shares = [float(k == kind) for k in range(len(SHARES))]
    return kinds_by(PolicyAgent(network).weights, shares)


def by_itself(agent: str) -> Kinds:
    """Return the kind that plays as a rung or a network does, and hardly ever otherwise."""
    rung = agent in RUNGS
    kind = 1 + RUNGS.index(agent) if rung else len(SHARES) - 1
    kinds = by_one_kind("student" if rung else agent, kind)
    kinds.rungs[1:] *= SHARP / EXACT
    kinds.units[:], kinds.lapses[:] = EXACT, EXACT_LAPSE
    return kinds


def models(itself: str | None) -> dict[str, Model]:
    """Return the models that weigh the worlds of an agent's games."""
    found: dict[str, Model] = {
        "the linear model": lambda view, worlds: log_weights(view, worlds, shipped_model()),
        "the small network": by(by_one_kind("student", len(SHARES) - len(UNITS))),
        "five kinds": by(kinds_by(PolicyAgent("student").weights)),
    }
    if itself:
        found["itself"] = by(by_itself(itself))
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
