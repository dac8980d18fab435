"""Games and learner in one program: PPO in self-play, by JAX alone.

    python examples/jax_ppo.py --minutes 10 --output runs/jax-ppo
    python evaluate.py policy:runs/jax-ppo greedy

All four seats learn with one network. A seat's reward is everything until its own next decision; a
decision whose seat neither moves again nor sees the end of the hand within a rollout is left out.
The network is saved as an ordinary policy, which compiled code plays without JAX.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fiveup_env.encoders import factors_of
from fiveup_env.encoders.flat import FLAT_PIECES, FLAT_SIZE, USUAL_POINTS
from fiveup_env.jax import FiveUp
from fiveup_env.rules.actions import ACTION_COUNT

STEPS, EPOCHS, PARTS = 64, 2, 4  # of an update
WIDTH, DEPTH, SEATS = 128, 1, 4
LAMBDA, CLIP, ENTROPY, RATE, CLIPPED_NORM = 0.9, 0.2, 0.01, 1e-3, 0.5
REWARD = 1 / 5  # points in one unit of reward, as our own learners count
UPDATES = 4  # in one program
FACTORS = jnp.asarray(factors_of(FLAT_PIECES), jnp.float32)
PLAYS = slice(FLAT_SIZE - ACTION_COUNT, FLAT_SIZE)  # by action: 0, or 1 + the points it scores

hands = FiveUp("five_up", players=SEATS, episode="hand", reward="margin", restart=True)
step = jax.vmap(hands.step)


# --- The network: that of `policy:student`, without what the heuristics compute


def new_network(key: Any) -> dict[str, Any]:
    """Return weights, as PyTorch would name them."""
    keys = iter(jax.random.split(key, 4 + 2 * DEPTH))

    def linear(name: str, inputs: int, outputs: int, scale: float) -> dict[str, Any]:
        weight = jax.nn.initializers.orthogonal(scale)(next(keys), (inputs, outputs))
        return {f"{name}.weight": weight.T, f"{name}.bias": jnp.zeros(outputs)}

    def norm(name: str) -> dict[str, Any]:
        return {f"{name}.weight": jnp.ones(WIDTH), f"{name}.bias": jnp.zeros(WIDTH)}

    weights = linear("policy_trunk.first", FLAT_SIZE, WIDTH, 2**0.5)
    for k in range(DEPTH):
        block = f"policy_trunk.blocks.{k}"
        weights |= norm(f"{block}.0") | linear(f"{block}.1", WIDTH, WIDTH, 2**0.5)
        weights |= linear(f"{block}.3", WIDTH, WIDTH, 0.1)
    weights |= norm("policy_trunk.norm") | linear("policy_head", WIDTH, ACTION_COUNT, 0.01)
    return weights | linear("value_head", WIDTH, 1, 1.0) | {"worth": jnp.zeros(USUAL_POINTS + 2)}


def network(weights: dict[str, Any], rows: Any, masks: Any) -> tuple[Any, Any]:
    """Return the log-probabilities of all actions, and the values."""

    def apply(name: str, numbers: Any) -> Any:
        return numbers @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normed(name: str, numbers: Any) -> Any:
        numbers = numbers - numbers.mean(-1, keepdims=True)
        numbers = numbers / jnp.sqrt((numbers**2).mean(-1, keepdims=True) + 1e-5)
        return numbers * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    state = apply("policy_trunk.first", rows.astype(jnp.float32) * FACTORS)
    for k in range(DEPTH):
        block = f"policy_trunk.blocks.{k}"
        inner = jax.nn.relu(apply(f"{block}.1", normed(f"{block}.0", state)))
        state += apply(f"{block}.3", inner)
    state = normed("policy_trunk.norm", state)
    plays = jnp.clip(rows[..., PLAYS].astype(jnp.int32), 0, USUAL_POINTS + 1)
    logits = jnp.where(masks, apply("policy_head", state) + weights["worth"][plays], -1e9)
    return jax.nn.log_softmax(logits), apply("value_head", state)[..., 0]


def save(weights: dict[str, Any], folder: Path, about: dict[str, Any]) -> None:
    """Save the network as a policy of kind `guided` whose further inputs have no weight."""
    import torch

    from agents.policies.files import save_policy
    from agents.policies.networks import Shape, build

    made = build(Shape("guided", WIDTH, DEPTH, shared=True))
    tensors = {name: torch.zeros_like(tensor) for name, tensor in made.state_dict().items()}
    for name, weight in weights.items():
        given = torch.tensor(np.asarray(weight))
        tensors[name][tuple(slice(size) for size in given.shape)] = given
    made.load_state_dict(tensors)
    save_policy(folder, made, about)


# --- The learner


def rollout(weights: dict[str, Any], state: Any, key: Any) -> Any:
    """Play STEPS moves of every game; return the state after them, and what was seen."""

    def play(state: Any, key: Any) -> Any:
        rows, masks = state.observation, state.legal_action_mask
        logs, values = network(weights, rows, masks)
        actions = jax.random.categorical(key, logs)
        taken = jnp.take_along_axis(logs, actions[:, None], 1)[:, 0]
        after = step(state, actions)
        seen = (rows, masks, actions, taken, values, state.current_player)
        return after, (*seen, after.rewards * REWARD, after.terminated)

    return jax.lax.scan(play, state, jax.random.split(key, STEPS))


def advantages(values: Any, seats: Any, rewards: Any, ended: Any) -> tuple[Any, Any]:
    """Return the advantages of all decisions, going back in time, and which of them are known."""

    def back(carry: Any, now: Any) -> Any:
        reward, value, advantage, known = carry  # by seat: since, at and from its next decision
        own_value, seat, paid, end = now
        end = end[:, None]
        reward = jnp.where(end, 0, reward) + paid
        value, advantage = jnp.where(end, 0, value), jnp.where(end, 0, advantage)
        own, known = jax.nn.one_hot(seat, SEATS, dtype=bool), known | end

        def of_seat(numbers: Any) -> Any:
            return jnp.where(own, numbers, 0).sum(1)

        is_known = (own & known).any(1)
        gain = of_seat(reward) + of_seat(value) - own_value + LAMBDA * of_seat(advantage)
        gain = jnp.where(is_known, gain, 0)
        carry = (
            jnp.where(own, 0, reward),
            jnp.where(own, own_value[:, None], value),
            jnp.where(own, gain[:, None], advantage),
            known | own,
        )
        return carry, (gain, is_known)

    nothing = jnp.zeros((values.shape[1], SEATS))
    start = (nothing, nothing, nothing, nothing > 0)
    return jax.lax.scan(back, start, (values, seats, rewards, ended), reverse=True)[1]


def loss_of(weights: dict[str, Any], batch: Any) -> Any:
    """Return the clipped loss of PPO, with the values' and less the entropy."""
    rows, masks, actions, before, gains, targets, known = batch
    logs, values = network(weights, rows, masks)
    taken = jnp.take_along_axis(logs, actions[:, None], 1)[:, 0]
    count = known.sum() + 1e-8
    mean = (gains * known).sum() / count
    spread = jnp.sqrt(((gains - mean) ** 2 * known).sum() / count) + 1e-8
    gains, ratio = (gains - mean) / spread, jnp.exp(taken - before)
    policy = -jnp.minimum(ratio * gains, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gains)
    entropy = -(jnp.exp(logs) * jnp.where(masks, logs, 0)).sum(-1)
    return ((policy + 0.5 * (values - targets) ** 2 - ENTROPY * entropy) * known).sum() / count


def adam(weights: Any, gradients: Any, moments: Any) -> tuple[Any, Any]:
    """Return the weights after a step of Adam, and its moments."""
    norm = jnp.sqrt(sum((g**2).sum() for g in gradients.values()))
    shrink = jnp.minimum(1, CLIPPED_NORM / (norm + 1e-8))
    count, new, first, second = moments["count"] + 1, {}, {}, {}
    for name, gradient in gradients.items():
        first[name] = 0.9 * moments["first"][name] + 0.1 * gradient * shrink
        second[name] = 0.999 * moments["second"][name] + 0.001 * (gradient * shrink) ** 2
        size = jnp.sqrt(second[name] / (1 - 0.999**count)) + 1e-8
        new[name] = weights[name] - RATE * first[name] / (1 - 0.9**count) / size
    return new, {"count": count, "first": first, "second": second}


@jax.jit  # type: ignore[untyped-decorator]
def learn(carry: Any) -> Any:
    """Return what there is to carry after UPDATES updates."""

    def update(carry: Any, _: None) -> Any:
        weights, moments, state, key = carry
        key, for_play, for_orders = jax.random.split(key, 3)
        state, seen = rollout(weights, state, for_play)
        rows, masks, actions, taken, values, seats, rewards, ended = seen
        gains, known = advantages(values, seats, rewards, ended)
        batch = (rows, masks, actions, taken, gains, gains + values, known)
        size = rewards.shape[0] * rewards.shape[1]
        batch = jax.tree.map(lambda x: x.reshape(size, *x.shape[2:]), batch)

        def learn_part(carry: Any, which: Any) -> Any:
            part = jax.tree.map(lambda x: x[which], batch)
            gradients = jax.grad(loss_of)(carry[0], part)
            return adam(carry[0], gradients, carry[1]), None

        orders = jnp.concatenate(
            [
                jax.random.permutation(one, size).reshape(PARTS, -1)
                for one in jax.random.split(for_orders, EPOCHS)
            ]
        )
        (weights, moments), _ = jax.lax.scan(learn_part, (weights, moments), orders)
        return (weights, moments, state, key), None

    return jax.lax.scan(update, carry, None, UPDATES)[0]


@jax.jit  # type: ignore[untyped-decorator]
def margin_against_greedy(weights: dict[str, Any], key: Any) -> Any:
    """Return the points a hand that seats 0 and 2 make more than greedy players."""

    def play(carry: Any, key: Any) -> Any:
        state, total, ends = carry
        logs, _ = network(weights, state.observation, state.legal_action_mask)
        ties = jax.random.uniform(key, logs.shape) / 2
        points = jnp.where(state.legal_action_mask, state.observation[:, PLAYS] + ties, -1)
        mine = state.current_player % 2 == 0
        after = step(state, jnp.where(mine, logs.argmax(1), points.argmax(1)))
        return (after, total + after.rewards[:, 0].sum(), ends + after.terminated.sum()), None

    start = jax.vmap(hands.init_stream, (None, 0))(1, jnp.arange(512, dtype=jnp.uint32))
    carry = (start, 0.0, 0)
    _, total, ends = jax.lax.scan(play, carry, jax.random.split(key, 200))[0]
    return total / ends


def first_carry(seed: int, games: int) -> Any:
    """Return weights, moments, games and a key to begin with."""
    key = jax.random.key(seed)
    weights = new_network(key)
    first, second = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    moments = {"count": jnp.zeros((), jnp.int32), "first": first, "second": second}
    streams = jnp.arange(games, dtype=jnp.uint32)
    return weights, moments, jax.vmap(hands.init_stream, (None, 0))(seed, streams), key


def main() -> None:
    """Learn for some minutes; with a folder, the policy is saved three times a minute."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--games", type=int, default=256, help="played at once; more on a GPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a folder for the policy")
    options = parser.parse_args()
    carry = first_carry(options.seed, options.games)
    about = {"rules": ["five_up"], "players": [SEATS], "reward": "margin", "horizon": "hand"}
    about |= {"command": "examples/jax_ppo.py", "seed": options.seed}
    started, told, decisions = time.monotonic(), 0.0, 0
    while (spent := time.monotonic() - started) < 60 * options.minutes or not decisions:
        carry = jax.block_until_ready(learn(carry))
        decisions += UPDATES * options.games * STEPS
        if spent - told > 20:
            told = spent
            ahead = float(margin_against_greedy(carry[0], jax.random.key(1)))
            if options.output:
                save(carry[0], options.output, about | {"decisions": decisions})
            line = f"{spent:5.0f} s, {decisions:,} decisions: {ahead:+.2f} points a hand"
            print(f"{line} against greedy", flush=True)
    if options.output:
        save(carry[0], options.output, about | {"decisions": decisions})
        print(f"saved: python evaluate.py policy:{options.output} greedy")


if __name__ == "__main__":
    main()
