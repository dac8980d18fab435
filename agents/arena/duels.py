"""Duels: two agents on the same deals. The deal is the unit of all statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agents.arena.games import Played, Terms, play_chunk
from agents.arena.statistics import interval, resampled_means
from agents.arena.tally import NOBODY, SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

CHUNK = 256  # deals that are played together


@dataclass(frozen=True)
class Duel:
    """What the first of two agents won against the second: a row a deal, a column a seating."""

    game_wins: np.ndarray  # 1, a share of a tie, or 0
    game_margins: np.ndarray  # points of the first's side less the mean of the others', a hand

    @property
    def wins(self) -> np.ndarray:
        """The share of each deal's games that the first won."""
        return self.game_wins.mean(1)

    @property
    def margins(self) -> np.ndarray:
        """The first's margin a hand, by deal."""
        return self.game_margins.mean(1)

    def interval(self, values: np.ndarray, seed: int = 0) -> tuple[float, float]:
        """The 95 % interval of a mean, by bootstrap over the deals."""
        low, high = interval(resampled_means(values[:, None], seed))
        return float(low[0]), float(high[0])


def duel(agents: Sequence[Agent], rules: Rules, seeds: np.ndarray, episode: str = "game") -> Duel:
    """Play two agents against each other on the deals of some seeds."""
    terms = Terms(rules, episode)
    names = [type(agent).__name__ for agent in agents]
    chunks = [seeds[k : k + CHUNK] for k in range(0, len(seeds), CHUNK)]
    return duel_of([play_chunk(agents, names, terms, chunk) for chunk in chunks], rules)


def duel_of(chunks: Sequence[Played], rules: Rules) -> Duel:
    """The duel that some chunks make."""
    scores = np.concatenate([chunk.scores for chunk in chunks])
    hands = np.concatenate([chunk.hands for chunk in chunks])
    forfeits = np.concatenate([chunk.forfeits for chunk in chunks])
    games = np.arange(len(scores))
    # In the k-th seating of a deal the first agent plays side k.
    own = games % rules.sides
    mine = scores[games, own].astype(np.float64)
    margins = (mine - (scores.sum(1) - mine) / (rules.sides - 1)) / hands
    best = scores.max(1)
    wins = np.where(mine == best, 1 / (scores == best[:, None]).sum(1), 0)
    # A forfeit is a loss; its margin is what it was, but not to the advantage of who forfeited.
    lost = forfeits != NOBODY
    won = forfeits == SECOND
    wins[lost] = won[lost]
    margins[lost] = np.where(won, np.maximum(margins, 0), np.minimum(margins, 0))[lost]
    by_deal = (-1, rules.sides)
    return Duel(wins.reshape(by_deal), margins.reshape(by_deal))
