"""Whole games between agents, move by move: what data and puzzles are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.envs.options import row_of_integers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fiveup_env.envs.batch import Batch
    from fiveup_env.opponents.agent import Agent


class Turn(NamedTuple):
    """A move in every game that went on: what was seen and done, one row for each game."""

    games: np.ndarray  # indices in the batch
    views: np.ndarray  # of the seats that moved, before the move
    masks: np.ndarray
    movers: np.ndarray  # indices of the agents that moved
    actions: np.ndarray


def turns_of(
    batch: Batch,
    agents: Sequence[Agent],
    specs: Sequence[str],
    seated: np.ndarray,
    rng: np.random.Generator,
) -> Iterator[Turn]:
    """Play a batch of games to their ends; yield every turn once its moves are made.

    `specs` name the agents in errors; `seated` [games x sides] has the index of each side's agent.
    """
    sides = batch.states["public"]["rules"]["sides"]
    while len(games := np.flatnonzero(~(batch.terminated | batch.truncated))):
        views, masks = batch.views(games), batch.action_mask[games]
        movers, actions = (
            seated[games, views["seat"] % sides[games]],
            np.empty(len(games), np.int64),
        )
        for number, agent in enumerate(agents):
            if len(own := np.flatnonzero(movers == number)):
                answers = agent(views[own], rng)
                actions[own] = row_of_integers(answers, f"actions of {specs[number]}", len(own))
        batch.advance(actions, games)
        yield Turn(games, views, masks, movers, actions)
