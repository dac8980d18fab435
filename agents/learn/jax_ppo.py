"""Games and learner in one program: PPO in self-play, by JAX alone.

    python -m agents.learn.jax_ppo --minutes 10 --output runs/jax-ppo
    python evaluate.py policy:runs/jax-ppo greedy partner

All four seats learn with one network. A seat's reward is everything until its own next decision; a
decision whose seat neither moves again nor sees the end of the hand within a rollout is left out.
The network is saved as an ordinary policy, which compiled code plays without JAX. A run that was
interrupted goes on from its last checkpoint if the same command is given again.
"""

from __future__ import annotations

import argparse
import io
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fiveup_env.encoders import factors_of, get_encoder, place_of
from fiveup_env.encoders.flat import USUAL_POINTS
from fiveup_env.files import write_atomic
from fiveup_env.jax import FiveUp, ladder, values_of
from fiveup_env.jax.evidence import chance_piece, chances, no_evidence, noted
from fiveup_env.jax.features import features
from fiveup_env.jax.networks import forward
from fiveup_env.opponents.networks.compiled import ENTRIES, Weights
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT
from fiveup_env.rules.actions import ACTION_COUNT

STEPS, EPOCHS = 64, 2  # of an update
WIDTH, DEPTH, SEATS = 64, 1, 4
LAMBDA, CLIP, ENTROPY, CLIPPED_NORM = 0.7, 0.2, 0.005, 0.5
RATE, LAST_RATE = 2e-3, 1e-4
REWARD = 1 / 5  # points in one unit of reward, as our own learners count
UPDATES = 4  # in one program
LOOKAHEAD = get_encoder("lookahead")
FACTORS = factors_of(LOOKAHEAD.pieces)[place_of(LOOKAHEAD, "features")[1].stop :, None]

hands = FiveUp("five_up", players=SEATS, episode="hand", reward="margin", restart=True)
RULES = values_of(hands.rules)


def started(seed: int, games: int) -> Any:
    """Return the first hands of some streams, and that nothing has been played."""
    streams = jnp.arange(games, dtype=jnp.uint32)
    evidence = jnp.repeat(no_evidence()[None], games, 0)
    return jax.vmap(hands.init_stream, (None, 0))(seed, streams), evidence


@jax.vmap  # type: ignore[untyped-decorator]
def step(state: Any, action: Any) -> Any:
    """Make a move, and note what it tells."""
    now, evidence = state
    after = hands.step(now, action)
    return after, noted(RULES, evidence, now.game, action, after.game)


@jax.vmap  # type: ignore[untyped-decorator]
def inputs(state: Any) -> Any:
    """Return the network's inputs: entries, features of the actions, and the legal ones."""
    now, evidence = state
    hidden = chances(RULES, now.game, evidence)
    entries = jnp.concatenate([now.observation, chance_piece(RULES, now.game, hidden)])
    return entries, features(RULES, now.game, hidden), now.legal_action_mask


# --- The network: that of `policy:student`


def new_weights(key: Any) -> Weights:
    """Return the weights of a network that plays nearly at random."""
    keys = iter(jax.random.split(key, 5 + 2 * DEPTH))

    def linear(inputs: int, outputs: int, scale: float) -> Any:
        return jax.nn.initializers.orthogonal(scale)(next(keys), (inputs, outputs))

    norm = jnp.stack([jnp.ones(WIDTH), jnp.zeros(WIDTH)])
    return Weights(
        first=linear(ENTRIES, WIDTH, 2**0.5),
        first_bias=jnp.zeros(WIDTH),
        norms=jnp.stack([norm] * DEPTH),
        inner=jnp.stack([linear(WIDTH, WIDTH, 2**0.5) for _ in range(DEPTH)]),
        inner_bias=jnp.zeros((DEPTH, WIDTH)),
        outer=jnp.stack([linear(WIDTH, WIDTH, 0.1) for _ in range(DEPTH)]),
        outer_bias=jnp.zeros((DEPTH, WIDTH)),
        norm=norm,
        head=linear(WIDTH, ACTION_COUNT, 0.01).T,
        head_bias=jnp.zeros(ACTION_COUNT),
        guide=linear(WIDTH, FEATURE_COUNT, 0.01),
        guide_bias=jnp.zeros(FEATURE_COUNT),
        worth=jnp.zeros(USUAL_POINTS + 2),
        value=linear(WIDTH, 1, 1.0)[:, 0],
        value_bias=jnp.zeros(1),
    )


def network(weights: Weights, entries: Any, looks: Any, masks: Any) -> tuple[Any, Any]:
    """Return the log-probabilities of all actions, and the values."""
    logits, values = forward(weights._replace(first=weights.first * FACTORS), entries, looks)
    return jax.nn.log_softmax(jnp.where(masks, logits, -1e9)), values


def save(weights: Weights, folder: Path, about: dict[str, Any]) -> None:
    """Save the network as a policy of kind `guided`."""
    import torch

    from agents.policies.files import save_policy
    from agents.policies.networks import Shape, build

    tensors = {
        "worth": weights.worth,
        "policy_trunk.first.weight": weights.first.T,
        "policy_trunk.first.bias": weights.first_bias,
        "policy_trunk.norm.weight": weights.norm[0],
        "policy_trunk.norm.bias": weights.norm[1],
        "policy_head.weight": weights.head,
        "policy_head.bias": weights.head_bias,
        "guide.weight": weights.guide.T,
        "guide.bias": weights.guide_bias,
        "value_head.weight": weights.value[None],
        "value_head.bias": weights.value_bias,
    }
    for k in range(DEPTH):
        block = f"policy_trunk.blocks.{k}"
        tensors |= {f"{block}.0.weight": weights.norms[k, 0]}
        tensors |= {f"{block}.0.bias": weights.norms[k, 1]}
        tensors |= {f"{block}.1.weight": weights.inner[k].T}
        tensors |= {f"{block}.1.bias": weights.inner_bias[k]}
        tensors |= {f"{block}.3.weight": weights.outer[k].T}
        tensors |= {f"{block}.3.bias": weights.outer_bias[k]}
    made = build(Shape("guided", WIDTH, DEPTH, shared=True))
    made.load_state_dict({name: torch.tensor(np.asarray(x)) for name, x in tensors.items()})
    save_policy(folder, made, about)


# --- The learner


def drawn(logs: Any, key: Any) -> Any:
    """Return an action for every row of log-probabilities, by one random number for each."""
    cumulative = jnp.cumsum(jnp.exp(logs), 1)
    lot = jax.random.uniform(key, (len(logs), 1)) * cumulative[:, -1:]
    return jnp.argmax(cumulative > lot, 1)


def rollout(weights: Weights, state: Any, key: Any) -> Any:
    """Play STEPS moves of every game; return the state after them, and what was seen."""

    def play(state: Any, key: Any) -> Any:
        given = inputs(state)
        logs, values = network(weights, *given)
        actions = drawn(logs, key)
        taken = jnp.take_along_axis(logs, actions[:, None], 1)[:, 0]
        after = step(state, actions)
        seen = (*given, actions, taken, values, state[0].current_player)
        return after, (*seen, after[0].rewards * REWARD, after[0].terminated)

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


def loss_of(weights: Weights, batch: Any) -> Any:
    """Return the clipped loss of PPO, with the values' and less the entropy."""
    entries, looks, masks, actions, before, gains, targets, known = batch
    logs, values = network(weights, entries, looks, masks)
    taken = jnp.take_along_axis(logs, actions[:, None], 1)[:, 0]
    count = known.sum() + 1e-8
    mean = (gains * known).sum() / count
    spread = jnp.sqrt(((gains - mean) ** 2 * known).sum() / count) + 1e-8
    gains, ratio = (gains - mean) / spread, jnp.exp(taken - before)
    policy = -jnp.minimum(ratio * gains, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gains)
    entropy = -(jnp.exp(logs) * jnp.where(masks, logs, 0)).sum(-1)
    return ((policy + 0.5 * (values - targets) ** 2 - ENTROPY * entropy) * known).sum() / count


def adam(weights: Weights, gradients: Weights, moments: Any, rate: Any) -> tuple[Weights, Any]:
    """Return the weights after a step of Adam, and its moments."""
    count, first, second = moments
    norm = jnp.sqrt(sum((g**2).sum() for g in gradients))
    shrink = jnp.minimum(1, CLIPPED_NORM / (norm + 1e-8))
    count += 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * shrink * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * (shrink * g) ** 2, second, gradients)

    def moved(weight: Any, m: Any, v: Any) -> Any:
        return weight - rate * m / (1 - 0.9**count) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

    return jax.tree.map(moved, weights, first, second), (count, first, second)


@partial(jax.jit, static_argnames="parts")
def learn(carry: Any, rate: Any, parts: int) -> Any:
    """Return the carried state after UPDATES updates, each in this many parts an epoch."""

    def update(carry: Any, _: None) -> Any:
        weights, moments, state, key = carry
        key, for_play, for_orders = jax.random.split(key, 3)
        state, seen = rollout(weights, state, for_play)
        *before, values, seats, rewards, ended = seen
        gains, known = advantages(values, seats, rewards, ended)
        batch = (*before, gains, gains + values, known)
        size = rewards.shape[0] * rewards.shape[1]
        batch = jax.tree.map(lambda x: x.reshape(size, *x.shape[2:]), batch)

        def learn_part(carry: Any, indices: Any) -> Any:
            part = jax.tree.map(lambda x: x[indices], batch)
            gradients = jax.grad(loss_of)(carry[0], part)
            return adam(carry[0], gradients, carry[1], rate), None

        orders = jnp.concatenate(
            [
                jax.random.permutation(each, size).reshape(parts, -1)
                for each in jax.random.split(for_orders, EPOCHS)
            ]
        )
        (weights, moments), _ = jax.lax.scan(learn_part, (weights, moments), orders)
        return (weights, moments, state, key), None

    return jax.lax.scan(update, carry, None, UPDATES)[0]


@partial(jax.jit, static_argnames="rung")
def margin_against(weights: Weights, rung: str, key: Any) -> Any:
    """Return the points a hand that seats 0 and 2 make more than two agents of the ladder."""
    agent = jax.vmap(ladder.agent(rung, RULES))

    def play(carry: Any, key: Any) -> Any:
        state, total, ends = carry
        logs, _ = network(weights, *inputs(state))
        theirs = agent(state[0].game, jax.random.bits(key, (len(logs), 2), jnp.uint32))
        mine = state[0].current_player % 2 == 0
        after = step(state, jnp.where(mine, logs.argmax(1), theirs))
        now = after[0]
        return (after, total + now.rewards[:, 0].sum(), ends + now.terminated.sum()), None

    carry = (started(1, 512), 0.0, 0)
    _, total, ends = jax.lax.scan(play, carry, jax.random.split(key, 200))[0]
    return total / ends


def first_carry(seed: int, games: int) -> Any:
    """Return weights, moments, games and a key to begin with."""
    key = jax.random.key(seed)
    weights = new_weights(key)
    nothing = jax.tree.map(jnp.zeros_like, weights)
    moments = jnp.zeros((), jnp.int32), nothing, nothing
    return weights, moments, started(seed, games), jax.random.key_data(key)


# --- A run


def checkpoint(path: Path, carry: Any, run: tuple[int, int], spent: float, decisions: int) -> None:
    """Write all that a run needs to go on; a run is named by its seed and its parts."""
    held = io.BytesIO()
    np.savez(held, np.array([*run, spent, decisions]), *map(np.asarray, jax.tree.leaves(carry)))
    write_atomic(path, held.getvalue())


def resumed(path: Path, carry: Any, run: tuple[int, int]) -> tuple[Any, float, int]:
    """Return the content of a checkpoint, or the initial state if there is none."""
    if not path.exists():
        return carry, 0.0, 0
    leaves, kind = jax.tree.flatten(carry)
    with np.load(path) as held:
        (*former, spent, decisions), *arrays = (held[name] for name in held.files)
    if former != [*run] or [x.shape for x in arrays] != [x.shape for x in leaves]:
        raise SystemExit(
            f"{path} is of another run: give its --games, --parts and --seed, or another --output"
        )
    return kind.unflatten(map(jnp.asarray, arrays)), float(spent), int(decisions)


def main() -> None:
    """Learn for some minutes; with a folder, save three times a minute."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--games", type=int, default=256, help="played at once; more on a GPU")
    parser.add_argument("--parts", type=int, default=4, help="steps of Adam in an epoch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a folder for the policy and the checkpoint")
    options = parser.parse_args()
    if options.parts < 1 or options.games * STEPS % options.parts:
        parser.error(f"--parts divides {STEPS} decisions of each of the --games")
    run = options.seed, options.parts
    carry, before, decisions = first_carry(options.seed, options.games), 0.0, 0
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        carry, before, decisions = resumed(options.output / "checkpoint.npz", carry, run)
    about = {"rules": ["five_up"], "players": [SEATS], "reward": "margin", "horizon": "hand"}
    about |= {"command": "python -m agents.learn.jax_ppo", "seed": options.seed}
    started, shown_at, limit = time.monotonic() - before, before, 60 * options.minutes
    while (spent := time.monotonic() - started) < limit or not decisions:
        rate = RATE + (LAST_RATE - RATE) * min(1, spent / limit)
        carry = jax.block_until_ready(learn(carry, rate, options.parts))
        decisions += UPDATES * options.games * STEPS
        spent = time.monotonic() - started
        if spent - shown_at > 20 or spent >= limit:
            shown_at = spent
            ahead = {
                rung: float(margin_against(carry[0], rung, jax.random.PRNGKey(1)))
                for rung in ("greedy", "partner")
            }
            line = ", ".join(f"{points:+.2f} against {rung}" for rung, points in ahead.items())
            print(f"{spent:5.0f} s, {decisions:,} decisions; points a hand: {line}", flush=True)
            if options.output:
                save(carry[0], options.output, about | {"decisions": decisions})
                checkpoint(options.output / "checkpoint.npz", carry, run, spent, decisions)
    if options.output:
        print(f"saved: python evaluate.py policy:{options.output} greedy")


if __name__ == "__main__":
    main()
