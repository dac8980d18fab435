"""Fit the model of the others' moves: `python -m agents.fitting.fitting`.

Strong players play games, and the model of `fiveup_env.opponents.search.inference` is fitted to
their moves by maximum likelihood: the weights of its features, and the share of moves at random.
Its power is the one at which it says most about the true deal: the mean, over positions of other
games, of the logarithm of how much more the true world counts than possible worlds do on average.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import torch

from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.encoders import NoRows
from fiveup_env.engine.legality import list_legal
from fiveup_env.envs.batch import Batch
from fiveup_env.files import atomic_file
from fiveup_env.native import Array, compiled, signed
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    SCRATCH,
    look_around,
)
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.inference import (
    MODEL,
    MODEL_FILE,
    log_weights,
    write_option_features,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLAYERS: Final = ("student", "policy:partners", "pimc:worlds=200")
FITTING_SEED: Final = 2_100_000_000
POWER_SEED: Final = 2_200_000_000
GAMES: Final = 256
BURN_IN: Final = 200  # moves in every game before any counts
MOST: Final = 24  # options of a move that is learnt from
WORLDS: Final = 500
POWERS: Final = np.linspace(0.1, 1, 19)


class Moves(NamedTuple):
    """Moves that left a choice, one per row."""

    features: np.ndarray  # [moves x options x features]
    options: np.ndarray  # whether there is such an option
    made: np.ndarray  # the number of the one that was taken


def played(player: str, seed: int, rounds: int) -> Iterator[tuple[Batch, np.ndarray, np.ndarray]]:
    """Yield a batch of games before each round of moves, its views and the player's actions."""
    agent, rng = make_agent(player), keyed_rng("fitting", seed)
    batch = Batch(GAMES, players=4, encoder=NoRows(), seed=seed)
    batch.reset()
    for turn in range(BURN_IN + rounds):
        views = batch.views()
        actions = agent(views, rng)
        if turn >= BURN_IN:
            yield batch, views, actions
        batch.step(actions)


def moves_of(player: str, seed: int, rounds: int) -> Moves:
    """Return the moves with a choice of some rounds of games between one player's copies."""
    parts = []
    for batch, views, actions in played(player, seed, rounds):
        counts = batch.action_mask.sum(1)
        indices = np.flatnonzero((counts > 1) & (counts <= MOST))
        features = np.zeros((len(indices), MOST, len(FEATURE_NAMES)))
        numbers = np.full((len(indices), MOST), -1)
        write_options(views[indices], np.zeros(1, SCRATCH), features, numbers)
        parts.append(Moves(features, numbers >= 0, (numbers == actions[indices, None]).argmax(1)))
    return joined(parts)


def joined(parts: Sequence[Moves]) -> Moves:
    """Return several lists of moves as one."""
    return Moves(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@compiled
def write_options(views: Array, scratch: Array, features: Array, numbers: Array) -> None:
    """Write the actions of every view's options, and their features as the model sees them."""
    actions = np.zeros(numbers.shape[1] + 1, np.int64)
    for i in range(len(views)):
        public, hand = views[i].public, views[i].hand
        outside = look_around(public, np.uint32(0), EVERY_FEATURE, scratch[0])
        for k in range(list_legal(public, hand, actions)):
            numbers[i, k] = signed(actions[k])
            write_option_features(public, hand, outside, actions[k], scratch[0])
            for name in range(features.shape[2]):
                features[i, k, name] = scratch[0].features[name]


def fit(moves: Moves) -> np.ndarray:
    """Return the model that finds some moves most likely, an array of one MODEL struct."""
    features, options, made = (torch.from_numpy(array) for array in moves)
    weights = torch.zeros(features.shape[2], dtype=features.dtype, requires_grad=True)
    odds = torch.tensor(-3.0, dtype=features.dtype, requires_grad=True)  # of a move at random
    optimizer = torch.optim.LBFGS([weights, odds], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        shares = (features @ weights).masked_fill(~options, -torch.inf).softmax(1)
        lapse = odds.sigmoid()
        taken = shares.gather(1, made[:, None])[:, 0]
        mean = -((1 - lapse) * taken + lapse / options.sum(1)).log().mean()
        mean.backward()  # type: ignore[no-untyped-call]
        return mean

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    model = np.zeros(1, MODEL)
    model["weights"], model["lapse"] = weights.detach(), odds.detach().sigmoid()
    model["power"] = 1
    return model


def surprise(model: np.ndarray, moves: Moves) -> float:
    """Return the mean negative log-likelihood of some moves."""
    worths = np.where(moves.options, moves.features @ model["weights"][0], -np.inf)
    shares = np.exp(worths - worths.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    taken, lapse = shares[np.arange(len(shares)), moves.made], model["lapse"][0]
    return float(-np.log((1 - lapse) * taken + lapse / moves.options.sum(1)).mean())


def evidence(model: np.ndarray, player: str, seed: int, positions: int) -> np.ndarray:
    """Return what the model says about the true deal of positions, in nats, for each of POWERS."""
    rng, logs_of_powers = np.random.default_rng(seed), []
    for batch, views, _ in played(player, seed, BURN_IN):
        indices = rng.choice(np.flatnonzero(batch.action_mask.sum(1) > 1), 1 + positions // BURN_IN)
        for i in indices:
            view = views[i : i + 1]
            worlds = worlds_to_games(view, sample(view, WORLDS, rng))
            logs = np.concatenate(
                [
                    log_weights(view, batch.states[i : i + 1], model),
                    log_weights(view, worlds, model),
                ]
            )
            powers = np.exp(POWERS[:, None] * (logs - logs.max()))
            logs_of_powers.append(np.log(powers[:, 0] / powers[:, 1:].mean(1)))
    return np.stack(logs_of_powers)


def main() -> int:
    """Fit the model, and save it for the library."""
    return answer("fitting", _run)


def _run() -> int:
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300, help="of moves in 256 games")
    parser.add_argument("--positions", type=int, default=2000, help="that the power is fitted to")
    options = parser.parse_args()
    model = fit(joined([moves_of(player, FITTING_SEED, options.rounds) for player in PLAYERS]))
    nats = []
    for player in PLAYERS:
        held_out = moves_of(player, POWER_SEED, 100)
        least = np.log(held_out.options.sum(1)).mean()
        print(f"{player}: {surprise(model, held_out):.3f} nats a move, {least:.3f} at random")
        nats.append(evidence(model, player, POWER_SEED, options.positions))
        for power, mean in zip(POWERS, nats[-1].mean(0), strict=True):
            print(f"    power {power:.2f} tells {mean:.3f} nats of the deal")
    model["power"] = POWERS[np.mean([each.mean(0) for each in nats], 0).argmax()]
    with atomic_file(MODEL_FILE) as file:
        json.dump(
            {
                "weights": dict(zip(FEATURE_NAMES, model["weights"][0].round(3), strict=True)),
                "lapse": float(model["lapse"][0].round(4)),
                "power": float(model["power"][0].round(2)),
                "made by": "python -m agents.fitting.fitting",
            },
            file,
            indent=1,
        )
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
