"""The games in JAX and `Batch`, side by side: the same actions, and everything compared."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fiveup_env import Batch, Rules
from fiveup_env.envs.episodes import Episodes
from fiveup_env.jax import init_stream, legal, observe, stack, step, truth, values_of
from fiveup_env.jax.words import as_seed, stream_key
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ILLEGAL_SHARE: Final = 1 / 400  # of the actions: any integer, in range or not
SEEN: Final = ("turn", "mask", "row", "truth", "reward", "terminated", "truncated", "final row")
OPTIONS: Final = (
    Episodes(reward="points"),
    Episodes(reward="win", max_hands=3),
    Episodes("hand", "margin"),
    Episodes(reward="margin", max_hands=6, illegal_reward=-2.5),
    Episodes("hand", "win"),
    Episodes(reward="win"),
)


def _every_rules() -> tuple[Rules, ...]:
    """Return rules in which every value of every field occurs."""
    minis = (("mini-2", 2), ("mini-2", 3), ("mini-2-draw", 2), ("mini-2-draw", 3), ("mini-3", 2))
    named = [*((name, n) for name in PRESETS for n in (2, 3, 4, 5)), *minis]
    named += [("mini-3", 3), ("mini-3", 4), ("mini-3-draw", 2)]
    changed: list[tuple[str, int, dict[str, Any]]] = [
        ("five_up", 4, {"draw": "optional"}),
        ("all_fives", 2, {"draw": "optional"}),
        ("all_fives", 3, {"draw": "optional", "reserve": 2}),
        ("five_up", 2, {"reserve": 1}),
        ("five_up", 3, {"reserve": 2}),
        ("five_up_fosdick", 4, {"reserve": 2}),
        ("five_up", 2, {"exact_target": True, "target": 5}),
        ("five_up_fosdick", 4, {"exact_target": True, "target": 11}),
        ("five_up_fosdick", 3, {"exact_target": True, "target": 7, "game_end": "finish_hand"}),
        ("five_up", 5, {"target": 3, "game_end": "immediate"}),
        ("five_up", 4, {"teams": False}),
        ("five_up_fosdick", 4, {"teams": False}),
        ("five_up_armanino", 4, {"teams": False}),
        ("all_fives", 4, {"teams": False}),
        ("five_up_armanino", 3, {"draw": "optional", "reserve": 1}),
        ("five_up_armanino", 3, {"block_pays": "difference"}),
        ("five_up_armanino", 2, {"block_pays": "difference"}),
        ("five_up_fosdick", 4, {"block_pays": "difference"}),
        ("all_fives", 3, {"block_pays": "difference"}),
        ("five_up", 4, {"leader": "rotate"}),
        ("all_fives", 3, {"leader": "rotate", "lead_tile": "highest_double"}),
        ("five_up", 5, {"lead_tile": "highest_double"}),
        ("five_up", 2, {"lead_tile": "highest_double", "draw": "optional"}),
        ("five_up", 4, {"lead_tile": "highest_double", "hand_size": 7}),
        ("five_up", 4, {"hand_size": 7}),
        ("five_up", 2, {"hand_size": 14}),
        ("five_up", 2, {"hand_size": 1}),
        ("five_up", 3, {"hand_size": 9, "reserve": 2}),
        ("five_up", 4, {"round_per": "side"}),
        ("five_up", 4, {"round_per": "all"}),
        ("five_up_fosdick", 4, {"round_per": "hand"}),
        ("five_up_fosdick", 4, {"round_per": "side"}),
        ("all_fives", 3, {"round_per": "hand"}),
        ("all_fives", 5, {"round_per": "side"}),
        ("five_up_armanino", 3, {"round_per": "hand"}),
        ("five_up", 4, {"spinners": "first"}),
        ("five_up", 4, {"spinners": "none"}),
        ("all_fives", 2, {"spinners": "all"}),
        ("all_fives", 2, {"multiple": 3}),
        ("five_up", 3, {"multiple": 2}),
        ("five_up_fosdick", 4, {"multiple": 12}),
        ("all_fives", 4, {"multiple": 7, "unit": 1}),
        ("five_up", 2, {"max_pip": 3, "hand_size": 3}),
        ("five_up", 3, {"max_pip": 2, "hand_size": 2, "multiple": 2}),
        ("five_up", 2, {"max_pip": 1, "hand_size": 1, "multiple": 2}),
        ("all_fives", 4, {"max_pip": 5, "hand_size": 4}),
        ("five_up", 4, {"target": 1_000_000}),
        ("all_fives", 2, {"target": 1_000_000}),
        ("five_up", 3, {"leader": "rotate", "draw": "optional", "multiple": 4}),
    ]
    every = [*((name, n, dict[str, Any]()) for name, n in named), *changed]
    return tuple(Rules.preset(name, n, **fields) for name, n, fields in every)


EVERY_RULES: Final = _every_rules()


class Compared(NamedTuple):
    """What a comparison found."""

    moves: int
    ends: int
    cut_off: int
    difference: str | None


def _seen(values: Any, game: Any, outcome: Any) -> dict[str, Any]:
    """Return everything that is compared, by the names in SEEN."""
    return {
        "turn": game.turn,
        "mask": legal(values, game),
        "row": observe(values, game),
        "truth": truth(values, game),
        "reward": outcome.rewards,
        "terminated": outcome.terminated,
        "truncated": outcome.truncated,
        "final row": observe(values, outcome.final),
    }


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
        game, outcome = step(values, game, action, options, restart=True)
        return game, _seen(values, game, outcome)

    if rules:
        return jax.vmap(partial(advance, values_of(rules)))(games, actions)
    return jax.vmap(advance)(values, games, actions)


def compare(
    rules: Sequence[Rules],
    games: int,
    steps: int,
    seed: int,
    options: Episodes,
    *,
    traced: bool,
) -> Compared:
    """Play random actions, a few of them illegal, and compare everything after every step."""
    batch = Batch(
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
    batch.reset()
    one = None if traced else rules[0]
    values = stack([rules[k % len(rules)] for k in range(games)]) if traced else None
    state = _start(values, jnp.arange(games, dtype=jnp.uint32), jnp.uint32(seed), one)
    rng = np.random.default_rng(seed)
    seats = batch.reward.shape[1]
    ends = cut_off = 0
    for k in range(steps):
        actions = batch.random_actions(rng)
        wild = rng.random(games) < ILLEGAL_SHARE
        actions[wild] = rng.integers(-ACTION_COUNT, 2 * ACTION_COUNT, wild.sum())
        batch.step(actions)
        state, seen = _advance(values, state, actions.astype(np.int32), options, one)
        seen = jax.tree.map(np.asarray, seen)
        seen["reward"] = seen["reward"][:, :seats]
        ended = batch.terminated | batch.truncated
        ends, cut_off = ends + int(batch.terminated.sum()), cut_off + int(batch.truncated.sum())
        expected = {
            "turn": batch.turn,
            "mask": batch.action_mask == 1,
            "row": batch.observation,
            "truth": batch.oracle,
            "reward": batch.reward,
            "terminated": batch.terminated,
            "truncated": batch.truncated,
        }
        which = np.flatnonzero(ended)
        finals = batch._finals["public"]["turn"][which]
        expected["final row"] = batch.final_observations_of(which, finals)
        seen["final row"] = seen["final row"][which]
        for name in SEEN:
            wrong = seen[name] != expected[name]
            if wrong.any():
                i = int(np.flatnonzero(wrong.reshape(len(wrong), -1).any(1))[0])
                i = int(which[i]) if name == "final row" else i
                by = batch.rules[i % len(batch.rules)]
                what = f"{name}: a difference after step {k} in game {i} of seed {seed}, {by}"
                return Compared((k + 1) * games, ends, cut_off, f"{what}, {options}")
    return Compared(steps * games, ends, cut_off, None)


def checked() -> Compared:
    """Compare what every change must leave equal: 67,200 moves, by every rule and reward."""
    games = 4 * len(EVERY_RULES)
    found = [
        compare(EVERY_RULES, games, 100, 5, OPTIONS[3], traced=True),
        compare(EVERY_RULES, games, 60, 6, OPTIONS[1], traced=True),
        compare([Rules.preset("five_up", 4)], 256, 60, 7, OPTIONS[2], traced=False),
    ]
    return Compared(
        sum(one.moves for one in found),
        sum(one.ends for one in found),
        sum(one.cut_off for one in found),
        next((one.difference for one in found if one.difference), None),
    )


def comparisons(seed: int, each: int = 12) -> Iterator[Compared]:
    """Yield comparisons without end: all rules traced, then each set of rules by itself.

    `each` is the number of games by every set of rules that are traced.
    """
    for round_number in range(1 << 30):
        for k, options in enumerate(OPTIONS):
            part = seed + 1000 * round_number + k
            yield compare(EVERY_RULES, each * len(EVERY_RULES), 250, part, options, traced=True)
        for k in range(4):
            n = 4 * round_number + k
            one, options = EVERY_RULES[n % len(EVERY_RULES)], OPTIONS[n % len(OPTIONS)]
            yield compare([one], 256, 200, seed + n, options, traced=False)
