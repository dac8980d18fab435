"""A warm start: supervised learning from a teacher that searches.

    python -m agents.learn.imitation --teacher pimc:worlds=50,aim=hand --positions 200000 \
        --out runs/imitated

The policy learns what the teacher finds every allowed action worth, softly: the better, the
likelier. The value learns what the best of them still brings, in the learner's own units.

Positions come in rounds: one is learnt from and dropped before the next is gathered, in which the
policy plays half of the moves, so that it is taught what to do where its own play leads.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch.nn.functional import mse_loss

from agents.learn.rollouts import first_deal
from agents.learn.runs.folder import code_version
from agents.policies.files import load_network, save_policy
from agents.policies.networks import READS, Shape, build, masked_log_probabilities
from agents.policies.units import AIMS, Units
from fiveup_env.envs.batch import Batch
from fiveup_env.errors import FiveUpError
from fiveup_env.opponents.agent import random_actions
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torch import Tensor

    from agents.policies.networks import PolicyNetwork
    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

Figures = dict[str, float]
RANDOM_SHARE = 0.1  # of the moves of the first round are random
PUPILS_SHARE = 0.5  # of the moves of later rounds are the policy's own
PARTS = 8  # of the positions, each with deals of its own, gathered on as many cores as there are
LAST_RATE = 0.02  # what is left of the learning rate in the end
ASKED_AT_ONCE = 4096  # positions that are held out, so that memory stays small


class ImitationError(FiveUpError):
    """A teacher that does not teach, or examples that cannot be learnt from."""


@runtime_checkable
class Teacher(Protocol):
    """Knows what every allowed action is worth: points (`aim` hand), or chances to win (game)."""

    aim: str

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """A number for every action of every view; -inf or NaN where it is not allowed."""


@dataclass(frozen=True)
class Examples:
    """Positions with what a teacher thinks of them, one a row."""

    rows: np.ndarray  # as the encoder writes them (int8)
    masks: np.ndarray  # what was allowed (int8)
    values: np.ndarray  # the teacher's, -inf where there is none (float32)
    returns: np.ndarray  # what the best of them still brings, as the learner counts (float32)
    games: np.ndarray  # in which game of the batch

    def __len__(self) -> int:
        """How many there are."""
        return len(self.rows)

    def part(self, which: np.ndarray) -> Examples:
        """Some of them."""
        return Examples(*(getattr(self, one.name)[which] for one in fields(self)))


# --- Gathering


def gather(
    teacher: Teacher,
    rules: str | Rules | Sequence[str | Rules],
    players: int | Sequence[int] | None,
    positions: int,
    seed: int,
    *,
    encoder: str = "flat",
    reward: str = "margin",
    games: int = 512,
    explorer: Agent = random_actions,
    share: float = 0.1,
) -> Examples:
    """Positions with a choice from so many of whole games, played by the teacher, mostly.

    The explorer chooses a share of the moves, so that positions come up to which the teacher would
    not have led: at random, or as the learner itself plays. The reward is the learner's: `margin`
    or `outlook`; the teacher has to aim at the same.
    """
    if not 0 <= share <= 1:
        raise ImitationError(f"share must be from 0 to 1, not {share}")
    if teacher.aim != AIMS[reward]:
        raise ImitationError(
            f"reward {reward} needs a teacher with aim={AIMS[reward]}, not {teacher.aim}"
        )
    batch = Batch(
        games,
        rules,
        players,
        encoder=encoder,
        seed=first_deal(seed),
    )
    batch.reset()
    random, ticks = np.random.default_rng(seed), max(1, positions // games)
    seen = []
    for _ in progress(range(ticks), ticks, "moves"):
        views = batch.views()
        values = _values_of(teacher, views, batch.mask, random)
        choice = batch.mask.sum(1) > 1
        found = values[choice]
        returns = Units(views[choice], reward).rewards(found.max(1)).astype(np.float32)
        rows, masks = batch.observation[choice], batch.mask[choice]
        seen.append((rows, masks, found, returns, np.flatnonzero(choice)))
        actions, explored = values.argmax(1), np.flatnonzero(random.random(games) < share)
        actions[explored] = explorer(views[explored], batch.mask[explored], random)
        batch.step(actions)
    return Examples(*(np.concatenate(column) for column in zip(*seen, strict=True)))


def gather_on_cores(
    teacher: str,
    explorer: str,
    rules: Sequence[str],
    players: Sequence[int],
    positions: int,
    seed: int,
    cores: int,
    **options: Any,
) -> Examples:
    """The same by several processes; what they gather does not depend on how many there are."""
    share = -(-positions // PARTS)
    part = partial(_gather_part, teacher, explorer, rules, players, share, **options)
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        parts = list(pool.map(part, range(seed * PARTS, (seed + 1) * PARTS)))
    firsts = np.cumsum([0, *(part.games.max() + 1 for part in parts[:-1])])
    games = [part.games + first for part, first in zip(parts, firsts, strict=True)]
    columns = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(Examples)
    }
    return Examples(**columns | {"games": np.concatenate(games)})


def _gather_part(
    teacher: str,
    explorer: str,
    rules: Sequence[str],
    players: Sequence[int],
    positions: int,
    seed: int,
    **options: Any,
) -> Examples:
    torch.set_num_threads(1)
    options["explorer"] = make_agent(explorer)
    return gather(_teacher(teacher), rules, players, positions, seed, **options)


def _values_of(
    teacher: Teacher, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """A teacher's values, -inf where it has none."""
    values = teacher.values(views, masks, random).astype(np.float32)
    values = np.where((masks > 0) & ~np.isnan(values), values, np.float32(-np.inf))
    if not np.isfinite(values.max(1)).all():
        raise ImitationError("the teacher must have a finite value for an allowed action")
    return values


# --- Learning


def imitate(
    network: PolicyNetwork,
    rounds: Iterable[Examples],
    *,
    count: int = 1,
    epochs: int = 5,
    batch_size: int = 1024,
    learning_rate: float = 1e-3,
    temperature: float = 0.5,
    value_weight: float = 0.5,
    held_out: float = 0.05,
    seed: int = 0,
    report: Callable[[Figures], object] = lambda _figures: None,
) -> list[Figures]:
    """Teach a network in so many rounds of examples, `epochs` times over each, by one schedule.

    After every epoch it is told how the network does on games of the round that were held out.
    An action's share of a target is its softmax by the teacher's values over the temperature (in
    the teacher's units). Figures: `loss` while learning; of what was held out `cross_entropy`,
    `agreement` (how often, where there is a choice, the likeliest action is the teacher's best),
    `regret` (how much worse it is, by the teacher) and `value_error` (mean square).
    """
    random = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(network.parameters())
    history: list[Figures] = []
    for examples in rounds:
        learnt, kept = _split(examples, held_out, random)
        for _ in range(epochs):
            losses, steps = [], -(-len(learnt) // batch_size)
            for step, part in enumerate(_minibatches(learnt, batch_size, random)):
                so_far = (len(history) + step / steps) / (count * epochs)
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate * (1 - (1 - LAST_RATE) * so_far)
                losses.append(_learn(network, optimizer, part, temperature, value_weight))
            figures = {"epoch": len(history) + 1, "loss": float(np.mean(losses))}
            history.append(figures | examine(network, kept, temperature))
            report(history[-1])
    return history


def _learn(
    network: PolicyNetwork,
    optimizer: torch.optim.Optimizer,
    examples: Examples,
    temperature: float,
    value_weight: float,
) -> float:
    """Learn from some examples at once; answer the loss."""
    cross_entropy, value_error, _ = _judge(network, examples, temperature)
    loss = cross_entropy.mean() + value_weight * value_error
    if not torch.isfinite(loss):
        raise ImitationError(f"the loss is {loss.item()}: try a smaller learning rate")
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


@torch.inference_mode()
def examine(network: PolicyNetwork, examples: Examples, temperature: float) -> Figures:
    """How well a network does what the examples say."""
    entropy, error, choices, agreed, regret = 0.0, 0.0, 0, 0, 0.0
    for start in range(0, len(examples), ASKED_AT_ONCE):
        part = examples.part(np.arange(start, min(start + ASKED_AT_ONCE, len(examples))))
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
    network: PolicyNetwork, examples: Examples, temperature: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The cross-entropy of every row, the values' mean square error, and the log-probabilities."""
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
    examples: Examples, held_out: float, random: np.random.Generator
) -> tuple[Examples, Examples]:
    """Examples to learn from, and some whole games to test on: a game's positions are alike."""
    games = np.unique(examples.games)
    count = round(held_out * len(games))
    if not 0 < count < len(games):
        raise ImitationError(
            f"held_out={held_out} of {len(games)} games leaves none to learn from or to test on"
        )
    tested = np.isin(examples.games, random.permutation(games)[:count])
    return examples.part(~tested), examples.part(tested)


def _minibatches(examples: Examples, size: int, random: np.random.Generator) -> Iterator[Examples]:
    """All examples in a random order, so many at a time."""
    order = random.permutation(len(examples))
    for start in range(0, len(order), size):
        yield examples.part(order[start : start + size])


# --- The command


def main() -> int:
    """Gather, teach, and save the policy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--teacher", default="pimc:worlds=50,aim=hand", help="a searching agent")
    parser.add_argument("--rules", default="five_up", help="presets, by commas")
    parser.add_argument("--players", default="4", help="numbers of players, by commas")
    parser.add_argument("--positions", type=int, default=100_000, help="moves, in all rounds")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--reward", choices=tuple(AIMS), default="margin")
    parser.add_argument("--kind", default="plain", help=", ".join(READS))
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--shared", action="store_true", help="one trunk for policy and value")
    parser.add_argument("--start", metavar="FOLDER", help="a policy of that shape to begin from")
    parser.add_argument("--epochs", type=int, default=5, help="over the positions of a round")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    parser.add_argument("--temperature", type=float, default=0.5, help="in the teacher's units")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the policy goes")
    options = parser.parse_args()
    try:
        figures = _teach(options)
    except (FiveUpError, OSError) as error:
        print(f"imitation: {error}", file=sys.stderr)
        return 2
    print(f"agreement {figures['agreement']:.3f}; play with policy:{options.out}")
    return 0


def _teach(options: argparse.Namespace) -> Figures:
    torch.set_num_threads(options.cores)
    torch.manual_seed(options.seed)
    encoder = READS.get(options.kind, "flat")
    shape = Shape(options.kind, options.width, options.depth, encoder, shared=options.shared)
    network = load_network(options.start, shape) if options.start else build(shape)
    _teacher(options.teacher)
    about = {
        "rules": options.rules.split(","),
        "players": _numbers(options.players),
        "reward": options.reward,
        "command": " ".join(["python -m agents.learn.imitation", *sys.argv[1:]]),
        "code": code_version(),
    }

    def report(figures: Figures) -> None:
        print({name: round(figure, 4) for name, figure in figures.items()}, flush=True)
        save_policy(options.out, network, about | {"results": figures})

    history = imitate(
        network,
        (_round(options, about, number) for number in range(options.rounds)),
        count=options.rounds,
        epochs=options.epochs,
        batch_size=options.batch_size,
        temperature=options.temperature,
        seed=options.seed,
        report=report,
    )
    return history[-1]


def _round(options: argparse.Namespace, about: dict[str, Any], number: int) -> Examples:
    """The positions of a round: after the first, the policy has a share in how games go."""
    positions = options.positions // options.rounds
    return gather_on_cores(
        options.teacher,
        f"policy:{options.out}" if number else "random",
        about["rules"],
        about["players"],
        positions,
        options.seed * options.rounds + number,
        options.cores,
        encoder=READS.get(options.kind, "flat"),
        reward=options.reward,
        games=min(512, max(1, positions // (PARTS * 100))),
        share=PUPILS_SHARE if number else RANDOM_SHARE,
    )


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ImitationError(f"players must be numbers by commas, not {text!r}") from None


def _teacher(spec: str) -> Teacher:
    agent: Any = make_agent(spec)
    if not isinstance(agent, Teacher):
        raise ImitationError(f"{spec} has no values for actions, so it cannot teach; pimc can")
    return agent


if __name__ == "__main__":
    sys.exit(main())
