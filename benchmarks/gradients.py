"""Train by self-play with exact policy gradients on a solved game, for docs/convergence.md.

    python -m benchmarks.gradients mini-2-draw --entropy 0.3

Every seat ascends the gradient of its own value and entropy, which is computed over the whole tree,
not sampled. So neither noise nor a wrong value estimate keeps this learner from an equilibrium. It
sees the rows of `flat` through the same network as our learner, or with `--table` has a number of
its own for every action in every row.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from agents.policies.networks import Shape, build, entropy_of, masked_log_probabilities
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.exact.form import form_of
from fiveup_env.exact.solutions import value_range
from fiveup_env.exact.values import exploitability, nash_conv_of_random
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.presets import MINIS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.exact.form import Form

WIDTH: Final = 64
LAST_ENTROPY: Final = 0.003
NETWORK_RATE: Final = 1e-3
TABLE_RATE: Final = 1e-2
LAST_RATE: Final = 0.1  # as a share of the first rate
READINGS: Final = 6


@dataclass(frozen=True, eq=False)
class Tree:
    """A game's tree, with its information states grouped by what an encoder shows of them."""

    form: Form
    rows: np.ndarray  # the distinct rows of the encoder (int8)
    masks: np.ndarray  # the legal actions of each row (int8)
    row_of: np.ndarray  # by information state
    chosen: np.ndarray  # by node, except roots: its parent's row * ACTION_COUNT + the action there

    def profile(self, shares: np.ndarray) -> np.ndarray:
        """Return the profile that plays with the given probabilities [rows x actions]."""
        form, players = self.form, self.form.rules.players
        states = self.row_of.repeat(form.widths)
        return form.normalised(np.r_[np.zeros(players), shares[states, form.actions[players:]]])

    def gradients(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradients of each seat's value, and the share of visits of each row.

        The gradients are those by the log-probabilities of the seat's own actions [rows x actions].
        """
        nodes, state_of = self.form.histories.nodes, self.form.state_of
        likely = nodes["chance"].copy()
        descend(nodes["parent"], self.chosen, shares.ravel(), likely)
        ends, choices = np.flatnonzero(state_of < 0), np.flatnonzero(state_of >= 0)
        worths = np.zeros((len(nodes), self.form.rules.players))
        worths[ends] = self.form.histories.margins(ends) * likely[ends, None]
        ascend(nodes["parent"], worths)
        inner = np.flatnonzero(nodes["parent"] >= 0)
        own = worths[inner, nodes["seat"][nodes["parent"][inner]]]
        gradients = np.bincount(self.chosen[inner], own, self.masks.size).reshape(self.masks.shape)
        visits = np.bincount(self.row_of[state_of[choices]], likely[choices], len(self.rows))
        return gradients / visits.sum(), visits / visits.sum()


def tree_of(rules: Rules) -> Tree:
    """Return the tree of a game."""
    form, encoder = form_of(rules), get_encoder("flat")
    encoded = np.zeros((len(form.seats), row_size(encoder)), np.int8)
    encoder.encode(form.views(), encoded)
    rows, row_of = np.unique(encoded, axis=0, return_inverse=True)
    masks = np.zeros((len(rows), ACTION_COUNT), np.int8)
    masks[row_of.repeat(form.widths), form.actions[rules.players :]] = 1
    nodes = form.histories.nodes
    rows_before = row_of[form.state_of[nodes["parent"]]]
    return Tree(form, rows, masks, row_of, rows_before * ACTION_COUNT + nodes["action"])


def climb(tree: Tree, options: argparse.Namespace) -> Iterator[tuple[int, float]]:
    """Ascend the gradients; now and then yield the number of steps and NashConv."""
    torch.manual_seed(options.seed)
    rows, masks = torch.from_numpy(tree.rows), torch.from_numpy(tree.masks)
    network = build(Shape("plain", WIDTH, 2))
    table = torch.zeros(masks.shape, requires_grad=True)
    parameters = [table] if options.table else list(network.parameters())
    optimizer = torch.optim.Adam(parameters)
    for step in range(options.steps + 1):
        logits = table if options.table else network(rows)[0]
        logs = masked_log_probabilities(logits, masks)
        shares = logs.detach().exp().double().numpy()
        if step % max(1, options.steps // READINGS) == 0:
            yield step, exploitability(tree.form, tree.profile(shares)).nash_conv
        gradients, visits = (torch.from_numpy(found).float() for found in tree.gradients(shares))
        share = step / options.steps
        entropy = options.entropy + (LAST_ENTROPY - options.entropy) * share
        rate = TABLE_RATE if options.table else NETWORK_RATE
        optimizer.param_groups[0]["lr"] = rate * (1 - (1 - LAST_RATE) * share)
        worth = (gradients * logs.masked_fill(masks == 0, 0)).sum()
        loss = -worth - entropy * (visits * entropy_of(logs)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@compiled
def descend(parents: Array, chosen: Array, shares: Array, likely: Array) -> None:
    """Multiply the chance of every node by the probability of the actions; parents come first."""
    played = np.ones(len(parents))
    for i in range(len(parents)):
        if parents[i] >= 0:
            played[i] = played[parents[i]] * shares[chosen[i]]
            likely[i] *= played[i]


@compiled
def ascend(parents: Array, worths: Array) -> None:
    """Add the values of the ends to all nodes that lead to them."""
    for i in range(len(parents) - 1, -1, -1):
        if parents[i] >= 0:
            worths[parents[i]] += worths[i]


def main() -> None:
    """Train, and print how far the policies can be exploited."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mini", choices=MINIS)
    parser.add_argument("--entropy", type=float, default=0.3, help="initial weight, in points")
    parser.add_argument("--steps", type=int, default=6_000)
    parser.add_argument("--seed", type=int, default=0, help="for the network's initial weights")
    parser.add_argument("--table", action="store_true", help="learn a table, not a network")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tree = tree_of(Rules.preset(options.mini, 2))
    wholes = value_range(tree.form), nash_conv_of_random(tree.form)
    for step, found in climb(tree, options):
        shares = (100 * found / whole for whole in wholes)
        text = "NashConv {:.4f}, {:.2g} % of the range, {:.2g} % of random play's"
        print(f"{step:6,} steps: {text.format(found, *shares)}", flush=True)


if __name__ == "__main__":
    main()
