"""Duels: two agents on the same deals, which are the unit of all statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.play.games import CHUNK, Played, Terms, play_chunk
from fiveup_env.arena.play.tally import NOBODY, SECOND
from fiveup_env.arena.statistics.bootstrap import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules


@dataclass(frozen=True)
class Duel:
    """The results of one agent against another: a row for each deal, a column for each seating."""

    game_wins: np.ndarray  # 1, a share of a tie, or 0
    game_points: np.ndarray  # the mean of the first's sides, less the mean of the second's
    game_hands: np.ndarray  # the number played

    @property
    def wins(self) -> np.ndarray:
        """The share of its games that the first agent won, by deal."""
        return self.game_wins.mean(1)

    @property
    def margins(self) -> np.ndarray:
        """The first agent's margin in points a hand, by deal; every hand counts the same."""
        return self.game_margins.mean(1)

    @property
    def game_margins(self) -> np.ndarray:
        """The margin in points a hand, by game: values whose mean is all points by all hands.

        The margin of a game by itself would not do: games that are won clearly are short. These
        values are linear in a game's points and hands, so the mean's interval is that of the ratio.
        """
        hands = self.game_hands.mean()
        margin = self.game_points.mean() / hands
        return margin + (self.game_points - margin * self.game_hands) / hands

    @property
    def most_points(self) -> float:
        """The largest margin of a game, either way: what a deal that was not seen may bring."""
        return float(np.abs(self.game_margins).max())

    @property
    def turned(self) -> Duel:
        """The same games, as the results of the second agent."""
        return Duel(1 - self.game_wins, -self.game_points, self.game_hands)

    def with_games_of(self, other: Duel) -> Duel:
        """Return the results of these games and of others on the same deals."""
        return Duel(
            np.hstack([self.game_wins, other.game_wins]),
            np.hstack([self.game_points, other.game_points]),
            np.hstack([self.game_hands, other.game_hands]),
        )

    def win_interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the share of games won, by bootstrap over the deals."""
        return mean_interval(self.wins, (0, 1))

    def margin_interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the margin in points a hand, by bootstrap over the deals."""
        return mean_interval(self.margins, (-self.most_points, self.most_points))


def duel_between(a: str, b: str, duels: Mapping[tuple[str, str], Duel], sides: int) -> Duel:
    """Return the results of `a` against `b`, from the duels of their meetings."""
    if sides > 2:
        return duels[a, b].with_games_of(duels[b, a].turned)
    return duels[a, b] if (a, b) in duels else duels[b, a].turned


def duel(agents: Sequence[Agent], rules: Rules, seeds: np.ndarray, episode: str = "game") -> Duel:
    """Play two agents on the deals of these seeds: the first plays one side."""
    terms = Terms(rules, episode)
    names = [type(agent).__name__ for agent in agents]
    chunks = [seeds[k : k + CHUNK] for k in range(0, len(seeds), CHUNK)]
    return duel_of([play_chunk(agents, names, terms, chunk) for chunk in chunks], rules)


def duel_of(chunks: Sequence[Played], rules: Rules) -> Duel:
    """Return the duel that these chunks make up."""
    scores = np.concatenate([chunk.scores for chunk in chunks])
    hands = np.concatenate([chunk.hands for chunk in chunks])
    forfeits = np.concatenate([chunk.forfeits for chunk in chunks])
    games = np.arange(len(scores))
    # In the k-th seating of a deal the first agent plays side k.
    own = games % rules.sides
    mine = scores[games, own].astype(np.float64)
    points = mine - (scores.sum(1) - mine) / (rules.sides - 1)
    best = scores.max(1)
    wins = np.where(mine == best, 1 / (scores == best[:, None]).sum(1), 0)
    # A forfeit is a loss. Its points stand, unless they were in favour of whoever forfeited.
    lost = forfeits != NOBODY
    won = forfeits == SECOND
    wins[lost] = won[lost]
    points[lost] = np.where(won, np.maximum(points, 0), np.minimum(points, 0))[lost]
    by_deal = (-1, rules.sides)
    return Duel(
        wins.reshape(by_deal),
        points.reshape(by_deal),
        hands.reshape(by_deal),
    )
