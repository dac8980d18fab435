"""Calibration: what a policy expects at its decisions, against what its own play then brings.

    python -m agents.learn.calibration policy:partners
    python -m agents.learn.calibration policy:partners --refit runs/refitted

The policy plays all seats. Its value at a decision estimates the reward that the seat to move
receives until the hand is over; what it does receive is the outcome. The table compares their means
by the number of choices, the allowed actions: values that are too high where there are many choices
mislead whatever compares positions by them. Intervals are clustered by game.

`--refit` fits the last layer of the value to outcomes, and writes a policy that is otherwise the
same, bit for bit, and chooses the same actions. Both tables are then of other games than those it
was fitted to. `--cool` also divides its logits, so that it is less sure of these actions.
"""

from __future__ import annotations

import copy
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch

from agents.learn.imitation import numbers_in
from agents.learn.rewards import BATCH_REWARDS, Rewards
from agents.learn.rollouts import burn_in
from agents.policies.agent import TorchPolicy
from agents.policies.files import save_policy
from agents.version import code_version
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.arena.tables import columns
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.envs.batch import Batch
from fiveup_env.opponents.networks.files import PolicyError
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.network_search import reward_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from agents.policies.agent import NetworkAgent

GAMES: Final = 512
MOVES: Final = 200  # of each game; hands that begin in this time are played to their end
MOST_CHOICES: Final = 6  # positions with more are counted with these
GROUPS: Final = (*map(str, range(2, MOST_CHOICES)), f"{MOST_CHOICES} or more", "all")
FIT_SEEDS: Final = 1_000_000  # from the first seed that is measured on to the first fitted to
SHRINKAGE: Final = 1_000.0  # of the change of a weight; chosen by cross-validation
MOST_COOLED: Final = 1000  # beyond, weights of 16 bits would not tell the actions apart


@dataclass(frozen=True)
class Decisions:
    """Decisions that a policy made, in all seats, one per row."""

    inputs: np.ndarray  # what the value head reads (float32)
    choices: np.ndarray  # the number of allowed actions, 2 or more
    games: np.ndarray  # the number of the game
    outcomes: np.ndarray  # the reward that the seat to move received until the hand was over

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.choices)


class Line(NamedTuple):
    """A line of a calibration: means over the decisions with one number of choices."""

    choices: str
    decisions: int
    value: float
    outcome: float
    excess: float  # of the value over the outcome
    low: float  # the bounds of its 95 % interval, clustered by game
    high: float
    error: float  # mean square, nearly all of it chance


# --- Playing


def play_rounds(
    agent: NetworkAgent,
    reward: str,
    rules: Sequence[str],
    players: Sequence[int],
    decisions: int,
    seed: int,
) -> Iterator[Decisions]:
    """Yield at least this many decisions, in rounds whose seeds count from `seed` on."""
    while decisions > 0:
        found = play(agent, reward, rules, players, seed)
        yield found
        decisions, seed = decisions - len(found), seed + 1


def play(
    agent: NetworkAgent,
    reward: str,
    rules: Sequence[str],
    players: Sequence[int],
    seed: int,
) -> Decisions:
    """Let a policy play all seats; return the decisions of all hands that begin in MOVES moves.

    Games are burnt in first. Hands are played to their end, so that no outcome is missing.
    """
    batch = Batch(GAMES, rules, players, reward=BATCH_REWARDS[reward], seed=seed)
    batch.reset()
    rng = keyed_rng("calibration", seed)
    burn_in(batch, rng)
    rewards, numbers = Rewards(reward, batch), np.arange(GAMES)
    counted = np.zeros(GAMES, np.bool_)  # not the hands that the burn-in has begun
    seen, received = [], []
    ended: list[np.ndarray] = []
    while len(ended) < MOVES or counted.any():
        views, choices = batch.views(), batch.action_mask.sum(1)
        free = choices > 1
        which = np.flatnonzero(free & counted)
        inputs = agent.value_inputs(views[which])
        seen.append((which, batch.turn[which], inputs, choices[which], numbers[which]))
        actions = batch.action_mask.argmax(1)
        actions[free] = agent(views[free], rng)
        hands = batch.states["public"]["hand_number"].copy()
        batch.step(actions)
        over = batch.terminated | (batch.states["public"]["hand_number"] != hands)
        ended.append(over)
        received.append(rewards.of(batch, over))
        counted[over] = len(ended) < MOVES
        numbers = numbers + GAMES * batch.terminated
    to_come = rewards_to_come(np.array(received), np.array(ended))
    outcomes = [to_come[move, which, seats] for move, (which, seats, *_) in enumerate(seen)]
    inputs, choices, numbers = (np.concatenate(part) for part in list(zip(*seen, strict=True))[2:])
    return Decisions(inputs, choices, numbers, np.concatenate(outcomes))


def rewards_to_come(received: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """Return what every seat receives from each move on, until the hand is over.

    Takes the rewards [moves x games x seats], and which moves ended a hand [moves x games].
    """
    to_come = received.copy()
    for move in reversed(range(len(to_come) - 1)):
        to_come[move] += np.where(ended[move][:, None], 0, to_come[move + 1])
    return to_come


# --- Comparing


def calibrate(heads: Sequence[torch.nn.Linear], rounds: Iterable[Decisions]) -> list[list[Line]]:
    """Return the lines of every value head's calibration, all on the same decisions."""
    found: list[list[np.ndarray]] = []
    games = 0
    for one in rounds:
        values = [values_of(head, one.inputs) for head in heads]
        found.append([one.choices, one.games + games, one.outcomes, *values])
        games += one.games.max() + 1
    choices, numbers, outcomes, *by_head = (
        np.concatenate(part) for part in zip(*found, strict=True)
    )
    return [compare(values, choices, numbers, outcomes) for values in by_head]


def compare(
    values: np.ndarray, choices: np.ndarray, games: np.ndarray, outcomes: np.ndarray
) -> list[Line]:
    """Return a line for each number of choices that there is, then one for all decisions."""
    _, game = np.unique(games, return_inverse=True)
    groups = len(GROUPS) - 1
    cells = game * groups + np.minimum(choices, MOST_CHOICES) - 2

    def sums(weights: np.ndarray) -> np.ndarray:
        """Return the sums by game (rows) and group."""
        found = np.bincount(cells, weights, groups * (game.max() + 1)).reshape(-1, groups)
        return np.column_stack([found, found.sum(1)])

    counts, excess = sums(np.ones(len(values))), values - outcomes
    decisions = counts.sum(0)
    means = [
        sums(of).sum(0) / np.maximum(decisions, 1) for of in (values, outcomes, excess, excess**2)
    ]
    resamples = resampled_means(np.hstack([sums(excess), counts]))
    drawn, there = np.split(resamples, 2, axis=1)
    low, high = interval(np.where(there > 0, drawn / np.maximum(there, 1e-9), means[2]))
    rows = zip(GROUPS, decisions, *means[:3], low, high, means[3], strict=True)
    return [Line(name, int(count), *map(float, figures)) for name, count, *figures in rows if count]


def values_of(head: torch.nn.Linear, inputs: np.ndarray) -> np.ndarray:
    """Return the values of a head."""
    with torch.inference_mode():
        return head(torch.from_numpy(inputs))[:, 0].numpy()


# --- Fitting


def refit(head: torch.nn.Linear, rounds: Iterable[Decisions]) -> None:
    """Fit a value head to outcomes, in place: least squares, with a penalty on its change."""
    size = head.in_features + 1
    products, errors = np.diag([*[SHRINKAGE] * head.in_features, 0.0]), np.zeros(size)
    for one in rounds:
        inputs = np.column_stack([one.inputs, np.ones(len(one))])
        products += inputs.T @ inputs
        errors += inputs.T @ (one.outcomes - values_of(head, one.inputs))
    change = torch.from_numpy(np.linalg.solve(products, errors))
    with torch.no_grad():
        head.weight.add_(change[:-1])
        head.bias.add_(change[-1:])


# --- The command


def main() -> int:
    """Print a policy's calibration, or with `--refit` those before and after."""
    return answer("calibration", _run)


def _run() -> int:
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("policy", metavar="SPEC", help="a policy, such as policy:partners")
    parser.add_argument("--rules", default="five_up", help="presets, separated by commas")
    parser.add_argument("--players", default="4", help="numbers, separated by commas")
    parser.add_argument("--decisions", type=int, default=200_000, help="to measure on, or more")
    parser.add_argument("--seed", type=int, default=970_000)
    parser.add_argument("--refit", metavar="FOLDER", help="where to write the refitted policy")
    parser.add_argument("--fit", type=int, default=500_000, help="decisions to fit to, or more")
    parser.add_argument("--half", action="store_true", help="write weights as float16")
    cool = "with --refit: divide the logits by this temperature, best a power of 2 (default: 1)"
    parser.add_argument("--cool", type=float, default=1.0, metavar="T", help=cool)
    options = parser.parse_args()
    if not 1 / MOST_COOLED <= options.cool <= MOST_COOLED:
        raise PolicyError(
            f"--cool must be from {1 / MOST_COOLED} to {MOST_COOLED}, not {options.cool}"
        )
    if options.cool != 1 and not options.refit:
        raise PolicyError("--cool goes with --refit FOLDER, where the cooled policy is written")
    torch.set_num_threads(1)
    for title, lines in _tables(options).items():
        print(f"{title}\n{text_of(lines)}\n")
    return 0


def _tables(options: argparse.Namespace) -> dict[str, list[Line]]:
    """Return the tables by their titles; write the refitted policy if one is asked for."""
    named = make_agent(options.policy)
    if not isinstance(named, PolicyAgent | TorchPolicy):
        raise PolicyError(f"{options.policy} has no network; give a policy, such as policy:family")
    agent = TorchPolicy(**asdict(named))
    head = copy.deepcopy(agent.network.value_head).cpu()
    heads, reward = {options.policy: head}, reward_of(agent.about)
    games = (agent, reward, options.rules.split(","), numbers_in(options.players))
    if options.refit:
        fitted = copy.deepcopy(head)
        refit(fitted, play_rounds(*games, options.fit, options.seed + FIT_SEEDS))
        heads["refitted"] = fitted.half().float() if options.half else fitted
    lines = calibrate([*heads.values()], play_rounds(*games, options.decisions, options.seed))
    tables = dict(zip(heads, lines, strict=True))
    if options.refit:
        agent.network.value_head = heads["refitted"]
        agent.network.cool(options.cool)
        about = agent.about | {"refit": _about(tables)}
        save_policy(options.refit, agent.network, about, half=options.half)
    return tables


def _about(tables: dict[str, list[Line]]) -> dict[str, Any]:
    """Return what a refitted policy says of its value head."""
    return {
        "command": " ".join(["python -m agents.learn.calibration", *sys.argv[1:]]),
        "code": code_version(),
        "excess of the value, before and after": {
            before.choices: [round(before.excess, 4), round(after.excess, 4)]
            for before, after in zip(*tables.values(), strict=True)
        },
    }


def text_of(lines: Sequence[Line]) -> str:
    """Return a calibration as a table."""
    rows = [("choices", "decisions", "value", "outcome", "value - outcome", "square error")]
    rows += [
        (
            line.choices,
            f"{line.decisions:,}",
            f"{line.value:.3f}",
            f"{line.outcome:.3f}",
            f"{line.excess:+.3f} ({line.low:+.3f} .. {line.high:+.3f})",
            f"{line.error:.4f}",
        )
        for line in lines
    ]
    return columns(rows, right={1, 2, 3})


if __name__ == "__main__":
    sys.exit(main())
