"""The games in JAX and `Batch`, side by side: the same actions, and everything compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fiveup_env import Batch, Rules
from fiveup_env.envs.episodes import Episodes
from fiveup_env.jax import init_stream, legal, observe, stack, step, truth, values_of
from fiveup_env.jax.words import as_seed, stream_key
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.presets import FAMILY, MINIS
from tests.engines.soak import random_rules

ILLEGAL_SHARE: Final = 1 / 400  # of the actions: any integer, in range or not
OPTIONS: Final = (
    Episodes(reward="points"),
    Episodes(reward="win", max_hands=3),
    Episodes("hand", "margin"),
    Episodes(reward="margin", max_hands=6, illegal_reward=-2.5),
    Episodes("hand", "win"),
    Episodes(reward="win"),
)
EVERY_RULES: Final = (
    *(Rules.preset(name, players) for name in FAMILY for players in (2, 3, 4, 5)),
    *(Rules.preset(name, 2) for name in MINIS),
    *islice(random_rules(np.random.default_rng(0)), 50),
)
GAMES: Final = 2 * len(EVERY_RULES)  # of the comparisons that share compiled code
FOUR_SIDES: Final = Rules.preset("five_up", 4, teams=False)


class Compared(NamedTuple):
    """The moves of a comparison, how many episodes ended and were cut off, and a difference."""

    moves: int
    ends: int
    cut_off: int
    difference: str | None


@partial(jax.jit, static_argnames="rules")
def _start(values: Any, index: Any, seed: Any, rules: Rules | None) -> Any:
    """Start the games of some streams; `rules` are compiled in, or `values` has some for each."""

    def start(values: Any, index: Any) -> Any:
        return init_stream(values, stream_key(as_seed(seed), index))

    if rules:
        return jax.vmap(partial(start, values_of(rules)))(index)
    return jax.vmap(start)(values, index)


@partial(jax.jit, static_argnames=("options", "rules"))
def _advance(
    values: Any, games: Any, actions: Any, options: Episodes, rules: Rules | None
) -> tuple[Any, Any]:
    """Step all games; return them and what is compared."""

    def advance(values: Any, game: Any, action: Any) -> Any:
        game, result = step(values, game, action, options, restart=True)
        return game, {
            "turn": game.turn,
            "mask": legal(values, game),
            "row": observe(values, game),
            "truth": truth(values, game),
            "reward": result.rewards,
            "terminated": result.terminated,
            "truncated": result.truncated,
            "final row": observe(values, result.final),
        }

    if rules:
        return jax.vmap(partial(advance, values_of(rules)))(games, actions)
    return jax.vmap(advance)(values, games, actions)


class Pair:
    """The same games in a batch and in JAX, by one set of rules, or by several that are traced."""

    def __init__(
        self, rules: Sequence[Rules], games: int, seed: int, options: Episodes = OPTIONS[1]
    ) -> None:
        self.batch = Batch(
            games,
            rules=list(rules),
            episode=options.episode,  # type: ignore[arg-type]
            reward=options.reward,  # type: ignore[arg-type]
            max_hands=options.max_hands,
            illegal="terminate",
            illegal_reward=options.illegal_reward,
            seed=seed,
            oracle=True,
        )
        self.batch.reset()
        self._options, self._static = options, rules[0] if len(rules) == 1 else None
        traced = [rules[k % len(rules)] for k in range(games)]
        self.values = None if self._static else stack(traced)
        index = jnp.arange(games, dtype=jnp.uint32)
        self.games = _start(self.values, index, jnp.uint32(seed), self._static)

    def step(self, actions: np.ndarray) -> dict[str, np.ndarray]:
        """Make a move in every game; return what is to be seen of those in JAX."""
        self.batch.step(actions)
        self.games, seen = _advance(
            self.values, self.games, actions.astype(np.int32), self._options, self._static
        )
        return {name: np.asarray(values) for name, values in seen.items()}


def compare(
    rules: Sequence[Rules], games: int, steps: int, seed: int, options: Episodes
) -> Compared:
    """Play random actions, a few of them illegal, and compare everything after every step."""
    pair = Pair(rules, games, seed, options)
    batch, rng = pair.batch, np.random.default_rng(seed)
    ends = cut_off = 0
    for k in range(steps):
        actions = batch.random_actions(rng)
        wild = rng.random(games) < ILLEGAL_SHARE
        actions[wild] = rng.integers(-ACTION_COUNT, 2 * ACTION_COUNT, wild.sum())
        seen = pair.step(actions)
        seen["reward"] = seen["reward"][:, : batch.reward.shape[1]]
        ends, cut_off = ends + int(batch.terminated.sum()), cut_off + int(batch.truncated.sum())
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        seats = batch._finals["public"]["turn"][ended]
        seen["final row"] = seen["final row"][ended]
        expected = {
            "turn": batch.turn,
            "mask": batch.action_mask == 1,
            "row": batch.observation,
            "truth": batch.oracle,
            "reward": batch.reward,
            "terminated": batch.terminated,
            "truncated": batch.truncated,
            "final row": batch.final_observations_of(ended, seats),
        }
        for name, values in expected.items():
            wrong = seen[name] != values
            if wrong.any():
                i = int(wrong.reshape(len(wrong), -1).any(1).argmax())
                i = int(ended[i]) if name == "final row" else i
                by = batch.rules[i % len(batch.rules)]
                difference = f"{name}: a difference after step {k} in game {i} of seed {seed}, {by}"
                return Compared((k + 1) * games, ends, cut_off, f"{difference}, {options}")
    return Compared(steps * games, ends, cut_off, None)


def quickly_checked() -> Iterator[Compared]:
    """Yield comparisons by every rule, as data and compiled in."""
    yield compare(EVERY_RULES, GAMES, 120, 6, OPTIONS[1])
    yield compare([FOUR_SIDES], 256, 60, 7, OPTIONS[2])


def comparisons(seed: int, each: int = 12) -> Iterator[Compared]:
    """Yield comparisons without end: all rules traced, then each set of rules by itself.

    `each` is the number of games by every set of rules that are traced.
    """
    for round_number in range(1 << 30):
        for k, options in enumerate(OPTIONS):
            part = seed + 1000 * round_number + k
            yield compare(EVERY_RULES, each * len(EVERY_RULES), 250, part, options)
        for n in range(4 * round_number, 4 * round_number + 4):
            rules, options = EVERY_RULES[n % len(EVERY_RULES)], OPTIONS[n % len(OPTIONS)]
            yield compare([rules], 256, 200, seed + n, options)
