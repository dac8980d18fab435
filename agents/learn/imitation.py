"""Imitation: supervised learning from a teacher that searches, as a warm start for self-play.

    python -m agents.learn.imitation --teacher pimc:worlds=25,aim=hand --positions 200000 \
        --out runs/imitated

The teacher searches every position twice, each time in worlds of its own. The policy learns from
the means of the two searches' values of all allowed actions: the better an action, the likelier it
becomes. The value head learns what the best action is still expected to bring, in the learner's own
units: one search chooses the action, and the other values it, both ways. The highest of noisy
values would be too high, and the more so the more actions there are.

Games are first played on from 0 : 0 by a fast agent, until positions at all scores are as frequent
as in a long run of games.

Positions come in rounds. Those of one round are learnt from and dropped before the next round is
gathered, in which the policy plays half of the moves, so that it is also taught in positions to
which its own play leads.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import mse_loss

from agents.fitting.teachers import Teacher, TeachingError, check_aim, make_teacher, values_of
from agents.learn.rollouts import burn_in
from agents.policies.agent import spec_of
from agents.policies.files import load_network, save_policy
from agents.policies.networks import READS, Shape, build, masked_log_probabilities
from agents.processes import workers
from agents.version import code_version
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.envs.batch import Batch
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.units import Units
from fiveup_env.progress import progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torch import Tensor

    from agents.policies.networks import PolicyNetwork
    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

Figures = dict[str, float]
RANDOM_SHARE = 0.1  # the share of the moves that are random in the first round
POLICY_SHARE = 0.5  # the share of the moves that the policy makes in later rounds
PARTS = 8  # of the positions, each with its own deals, whatever the number of cores
FINAL_RATE = 0.02  # the last learning rate, as a share of the first
EVALUATED_AT_ONCE = 4096  # held-out positions, so that memory stays small


@dataclass(frozen=True)
class Positions:
    """Positions with a teacher's values for their actions, one position per row."""

    rows: np.ndarray  # as the encoder writes them (int8)
    masks: np.ndarray  # of the allowed actions (int8)
    values: np.ndarray  # the teacher's, -inf where there is none (float32)
    returns: np.ndarray  # what the best action is still expected to bring, as a reward (float32)
    games: np.ndarray  # the game of the batch that the position is from

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.rows)

    def part(self, which: np.ndarray) -> Positions:
        """Return some of the examples, by a mask or by their numbers."""
        return Positions(*(getattr(self, field.name)[which] for field in fields(self)))


# --- Gathering


@dataclass(frozen=True)
class Gathering:
    """The games in which positions are gathered: about `positions` moves in all."""

    rules: str | Rules | Sequence[str | Rules]
    players: int | Sequence[int] | None
    positions: int
    seed: int
    encoder: str = "flat"
    reward: str = "margin"  # the learner's, or `outlook`; the teacher has to aim at the same
    games: int = 512
    share: float = RANDOM_SHARE  # of the moves that an explorer makes


def gather(teacher: Teacher, plan: Gathering, explorer: Agent) -> Positions:
    """Return the positions of some games that left a choice.

    Games are burnt in first. Then the teacher makes most of the moves. The explorer makes a share
    of them, at random or as the learner itself plays, so that there are positions to which the
    teacher would not have led.
    """
    if not 0 <= plan.share <= 1:
        raise TeachingError(f"share must be from 0 to 1, not {plan.share}")
    check_aim(teacher, plan.reward)
    games = plan.games
    batch = Batch(games, plan.rules, plan.players, encoder=plan.encoder, seed=plan.seed)
    batch.reset()
    rng, ticks = keyed_rng("imitation", plan.seed), max(1, plan.positions // games)
    burn_in(batch, rng)
    seen = []
    for _ in progress(range(ticks), ticks, "moves"):
        views = batch.views()
        one, other = _two_searches(teacher, views, rng)
        values = (one + other) / 2
        choice = batch.action_mask.sum(1) > 1
        best = _unbiased_best(one[choice], other[choice])
        returns = Units(views[choice], plan.reward).rewards(best).astype(np.float32)
        rows, masks = batch.observation[choice], batch.action_mask[choice]
        seen.append((rows, masks, values[choice], returns, np.flatnonzero(choice)))
        actions, explored = values.argmax(1), np.flatnonzero(rng.random(games) < plan.share)
        actions[explored] = explorer(views[explored], rng)
        batch.step(actions)
    return Positions(*(np.concatenate(column) for column in zip(*seen, strict=True)))


def gather_on_cores(teacher: str, explorer: str, plan: Gathering, cores: int) -> Positions:
    """Gather in several processes; the positions do not depend on their number."""
    share = -(-plan.positions // PARTS)
    plans = [replace(plan, positions=share, seed=plan.seed * PARTS + i) for i in range(PARTS)]
    with workers(cores) as pool:
        parts = list(pool.map(partial(_gather_part, teacher, explorer), plans))
    firsts = np.cumsum([0, *(part.games.max() + 1 for part in parts[:-1])])
    games = [part.games + first for part, first in zip(parts, firsts, strict=True)]
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Positions)
    }
    return Positions(**columns | {"games": np.concatenate(games)})


def _gather_part(teacher: str, explorer: str, plan: Gathering) -> Positions:
    torch.set_num_threads(1)
    return gather(make_teacher(teacher), plan, make_agent(explorer))


def _two_searches(
    teacher: Teacher, views: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of two searches, -inf where either has none.

    A search may rule actions out. Where each has ruled out all that the other has not, the first
    decides alone.
    """
    one, other = (values_of(teacher, views, rng) for _ in range(2))
    apart = ~np.isfinite(one + other).any(1)
    other[apart] = one[apart]
    ruled_out = ~np.isfinite(one + other)
    one[ruled_out] = other[ruled_out] = -np.inf
    return one, other


def _unbiased_best(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the value of the best action of every row: one search chooses, the other values."""
    rows = np.arange(len(one))
    return (one[rows, other.argmax(1)] + other[rows, one.argmax(1)]) / 2


# --- Learning


@dataclass(frozen=True)
class Lessons:
    """How a network is taught by rounds of examples, each gone through `epochs` times.

    One schedule of the learning rate spans all rounds, whose number is `count`. The target
    probabilities of the actions are the softmax of the teacher's values divided by the temperature
    (which is in the teacher's units).
    """

    count: int = 1
    epochs: int = 5
    batch_size: int = 1024
    learning_rate: float = 1e-3
    temperature: float = 0.5
    value_weight: float = 0.5
    held_out: float = 0.05
    seed: int = 0


def imitate(
    network: PolicyNetwork,
    rounds: Iterable[Positions],
    lessons: Lessons,
    report: Callable[[Figures], object] = lambda _figures: None,
) -> list[Figures]:
    """Teach a network by rounds of examples; return the figures of every epoch.

    After every epoch `report` is called with its figures: `loss` while learning and, on games of
    the round that were held out, `cross_entropy`, `agreement` (how often, where there is a choice,
    the likeliest action is the teacher's best), `regret` (how much worse it is, by the teacher's
    values) and `value_error` (mean square).
    """
    rng = np.random.default_rng(lessons.seed)
    optimizer = torch.optim.Adam(network.parameters())
    history: list[Figures] = []
    for examples in rounds:
        learnt, kept = _split(examples, lessons.held_out, rng)
        for _ in range(lessons.epochs):
            losses, steps = [], -(-len(learnt) // lessons.batch_size)
            for step, part in enumerate(_minibatches(learnt, lessons.batch_size, rng)):
                done = (len(history) + step / steps) / (lessons.count * lessons.epochs)
                for group in optimizer.param_groups:
                    group["lr"] = lessons.learning_rate * (1 - (1 - FINAL_RATE) * done)
                losses.append(_learn(network, optimizer, part, lessons))
            figures = {"epoch": len(history) + 1, "loss": float(np.mean(losses))}
            history.append(figures | examine(network, kept, lessons.temperature))
            report(history[-1])
    return history


def _learn(
    network: PolicyNetwork,
    optimizer: torch.optim.Optimizer,
    examples: Positions,
    lessons: Lessons,
) -> float:
    """Make one step of the optimizer on some examples, and return the loss."""
    cross_entropy, value_error, _ = _judge(network, examples, lessons.temperature)
    loss = cross_entropy.mean() + lessons.value_weight * value_error
    if not torch.isfinite(loss):
        raise TeachingError(f"the loss is {loss.item()}: try a smaller learning rate")
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


@torch.inference_mode()
def examine(network: PolicyNetwork, examples: Positions, temperature: float) -> Figures:
    """Return the figures of a network on examples: see `imitate`."""
    entropy, error, choices, agreed, regret = 0.0, 0.0, 0, 0, 0.0
    for start in range(0, len(examples), EVALUATED_AT_ONCE):
        part = examples.part(np.arange(start, min(start + EVALUATED_AT_ONCE, len(examples))))
        cross_entropy, value_error, logs = _judge(network, part, temperature)
        chosen = logs.argmax(1).cpu().numpy()
        worse = part.values.max(1) - part.values[np.arange(len(part)), chosen]
        entropy += float(cross_entropy.sum())
        error += float(value_error) * len(part)
        choices += int((part.masks.sum(1) > 1).sum())
        agreed += int((worse[part.masks.sum(1) > 1] == 0).sum())
        regret += float(worse.sum())
    return {
        "cross_entropy": entropy / len(examples),
        "value_error": error / len(examples),
        "agreement": agreed / max(1, choices),
        "regret": regret / max(1, choices),
    }


def _judge(
    network: PolicyNetwork, examples: Positions, temperature: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return every row's cross-entropy, the values' mean square error, and log-probabilities."""
    device = network.reader.factors.device
    rows, masks, values, returns = (
        torch.from_numpy(array).to(device)
        for array in (examples.rows, examples.masks, examples.values, examples.returns)
    )
    logits, expected = network(rows)
    logs = masked_log_probabilities(logits, masks)
    targets = (values / temperature).softmax(1)
    cross_entropy = -(targets * logs.masked_fill(masks == 0, 0)).sum(1)
    return cross_entropy, mse_loss(expected, returns), logs


def _split(
    examples: Positions, held_out: float, rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """Return the examples to learn from, and those of some held-out games to test on.

    Whole games are held out, because the positions of one game are alike.
    """
    games = np.unique(examples.games)
    count = round(held_out * len(games))
    if not 0 < count < len(games):
        raise TeachingError(
            f"held_out={held_out} of {len(games)} games leaves none to learn from or to test on"
        )
    tested = np.isin(examples.games, rng.permutation(games)[:count])
    return examples.part(~tested), examples.part(tested)


def _minibatches(examples: Positions, size: int, rng: np.random.Generator) -> Iterator[Positions]:
    """Yield all examples in a random order, `size` at a time."""
    order = rng.permutation(len(examples))
    for start in range(0, len(order), size):
        yield examples.part(order[start : start + size])


# --- The command


def main() -> int:
    """Gather positions, teach the network, and save the policy."""
    return answer("imitation", _run)


def _run() -> int:
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--teacher",
        default="pimc:worlds=25,aim=hand",
        help="the spec of an agent, which searches every position twice",
    )
    parser.add_argument("--rules", default="five_up", help="presets, separated by commas")
    parser.add_argument("--players", default="4", help="numbers, separated by commas")
    parser.add_argument("--positions", type=int, default=100_000, help="moves of all rounds")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--reward", choices=("margin", "outlook"), default="margin")
    parser.add_argument("--kind", default="plain", help=", ".join(READS))
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--shared", action="store_true", help="one trunk for policy and value")
    parser.add_argument("--start", metavar="FOLDER", help="a policy of this shape to begin from")
    parser.add_argument("--epochs", type=int, default=5, help="over each round's positions")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    parser.add_argument("--temperature", type=float, default=0.5, help="in the teacher's units")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where to write the policy")
    options = parser.parse_args()
    figures = _teach(options)
    print(
        f"The policy plays the teacher's best action in {100 * figures['agreement']:.1f} % of the "
        f"held-out positions. Play with {spec_of(options.out)}"
    )
    return 0


def _teach(options: argparse.Namespace) -> Figures:
    torch.set_num_threads(options.cores)
    torch.manual_seed(options.seed)
    shape = Shape(options.kind, options.width, options.depth, shared=options.shared)
    reward = options.reward
    network = load_network(options.start, shape, reward) if options.start else build(shape)
    encoder = network.shape.encoder
    make_teacher(options.teacher)
    about = {
        "rules": options.rules.split(","),
        "players": numbers_in(options.players),
        "reward": reward,
        "command": " ".join(["python -m agents.learn.imitation", *sys.argv[1:]]),
        "code": code_version(),
    }

    def report(figures: Figures) -> None:
        print(
            "  ".join(
                f"{name.replace('_', ' ')} {round(figure, 4)}" for name, figure in figures.items()
            ),
            flush=True,
        )
        save_policy(options.out, network, about | {"results": figures})

    history = imitate(
        network,
        (_round(options, about, encoder, number) for number in range(options.rounds)),
        Lessons(
            count=options.rounds,
            epochs=options.epochs,
            batch_size=options.batch_size,
            temperature=options.temperature,
            seed=options.seed,
        ),
        report,
    )
    return history[-1]


def _round(
    options: argparse.Namespace, about: dict[str, Any], encoder: str, number: int
) -> Positions:
    """Gather the positions of a round; after the first, the policy makes a share of the moves."""
    positions = options.positions // options.rounds
    plan = Gathering(
        about["rules"],
        about["players"],
        positions,
        options.seed * options.rounds + number,
        encoder=encoder,
        reward=about["reward"],
        games=min(512, max(1, positions // (PARTS * 100))),
        share=POLICY_SHARE if number else RANDOM_SHARE,
    )
    explorer = spec_of(options.out) if number else "random"
    return gather_on_cores(options.teacher, explorer, plan, options.cores)


def numbers_in(text: str) -> list[int]:
    """Return the numbers in a text that separates them by commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise TeachingError(f"players must be numbers separated by commas, not {text!r}") from None


if __name__ == "__main__":
    sys.exit(main())
