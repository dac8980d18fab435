"""`judge(game)`: what every decision of a game lost, and the error rates of its players.

A decision is a move where more than one was legal. It is judged from what its player could know:
from the view, never from the hidden tiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.analysis.trials import (
    CHANCE,
    POINTS,
    REFERENCE,
    Estimate,
    Trials,
    key_of,
    means_of,
    shortfalls,
)
from fiveup_env.engine.legality import mark_legal_at
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import observe_at
from fiveup_env.rules.actions import ACTION_COUNT, MOVES, Move
from fiveup_env.rules.fields import MAX_PLAYERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from fiveup_env.game.game import Game
    from fiveup_env.opponents.agent import Agent

CLEARLY = 3.0  # standard errors by which a loss must be above 0 to count as a mistake


@dataclass(frozen=True)
class Option:
    """A legal move: the mover's chance to win after it, and the points that the hand brings."""

    move: Move
    chance: Estimate
    points: Estimate


@dataclass(frozen=True)
class Decision:
    """A move where there was a choice, and what it lost.

    `number` is that of the move in `game.moves`. The losses are compared with `best`, the move with
    the highest chance to win; where points and wins differ, a loss of points may be below 0.
    """

    number: int
    hand: int
    seat: int
    move: Move
    best: Move
    chance_lost: Estimate
    points_lost: Estimate
    options: tuple[Option, ...]  # the best first

    @property
    def is_mistake(self) -> bool:
        """Whether the move is clearly worse than the best."""
        mean, error = self.chance_lost
        return self.move != self.best and mean > CLEARLY * error

    def _repr_html_(self) -> str:
        """Return a table of all options, which notebooks show."""
        rows = (
            (
                f"<b>{option.move}</b>" if option.move == self.move else str(option.move),
                f"{_percent(option.chance)} {_bar(option.chance.mean)}",
                f"{option.points.mean:+.2f}",
            )
            for option in self.options
        )
        head = ("move (bold: made)", "chance to win (%)", "points of the hand")
        return _table(f"Hand {self.hand}, seat {self.seat}, move {self.number}", head, rows)


@dataclass(frozen=True)
class ErrorRate:
    """The mean loss of a seat's decisions, in chances to win and in points.

    The errors take the hands for the sample, so they are NaN where there was only one.
    """

    decisions: int
    chance: Estimate
    points: Estimate


@dataclass(frozen=True)
class Judgement:
    """All decisions of a game, in order."""

    decisions: tuple[Decision, ...]

    def error_rate(self, seat: int) -> ErrorRate:
        """Return the error rate of a seat."""
        own = [decision for decision in self.decisions if decision.seat == seat]
        return ErrorRate(
            len(own),
            _rate((decision.hand, decision.chance_lost.mean) for decision in own),
            _rate((decision.hand, decision.points_lost.mean) for decision in own),
        )

    def mistakes(self, seat: int | None = None) -> list[Decision]:
        """Return the mistakes of a seat, or of all, the biggest first."""
        mistakes = [d for d in self.decisions if d.is_mistake and seat in {None, d.seat}]
        return sorted(mistakes, key=lambda decision: -decision.chance_lost.mean)

    def _repr_html_(self) -> str:
        """Return a table of all mistakes, the biggest first, which notebooks show."""
        mistakes = self.mistakes()
        rows = (
            (
                f"{decision.number} (hand {decision.hand})",
                str(decision.seat),
                str(decision.move),
                str(decision.best),
                f"{_percent(decision.chance_lost)} {_bar(decision.chance_lost.mean)}",
                f"{decision.points_lost.mean:+.2f}",
            )
            for decision in mistakes
        )
        head = ("move", "seat", "made", "best", "chance to win lost (%)", "points lost")
        return _table(f"{len(mistakes)} mistakes in {len(self.decisions)} decisions", head, rows)


def judge(game: Game, reference: str | Agent = REFERENCE, seed: int = 0) -> Judgement:
    """Return the judgement of a game by a reference search.

    Args:
        game: The game, finished or not.
        reference: A `pimc`, by its spec or itself. Its worlds and its playout count; no action is
            given up before all worlds are played.
        seed: Names the worlds: the same seed gives the same judgement.

    Raises:
        AgentError: If the reference is any other agent.
    """
    return Judgement(tuple(decisions_of(game, reference, seed)))


def decisions_of(
    game: Game, reference: str | Agent = REFERENCE, seed: int = 0
) -> Iterator[Decision]:
    """Yield the decisions of a game one by one, as they are judged; the arguments are `judge`'s."""
    for tried in tried_in(game, reference, seed):
        values, move = tried.values, tried.move
        options = sorted(_options(tried.actions, values), key=lambda option: -option.chance.mean)
        lost = shortfalls(values, tried.taken)
        seat, hand = tried.seat, int(tried.view[0]["public"]["hand_number"])
        yield Decision(tried.number, hand, seat, move, options[0].move, *lost, tuple(options))


class Tried(NamedTuple):
    """A decision of a game, all of whose actions were tried."""

    number: int  # of the move in the game
    move: Move
    view: np.ndarray
    actions: np.ndarray  # all that were legal
    values: np.ndarray  # what they bring, as `Trials` returns it

    @property
    def seat(self) -> int:
        """The seat that moved."""
        return int(self.view["seat"][0])

    @property
    def taken(self) -> int:
        """The place of the move among the actions."""
        return int(np.searchsorted(self.actions, self.move.action))


def tried_in(
    game: Game, reference: str | Agent, seed: int, seats: Container[int] = range(MAX_PLAYERS)
) -> Iterator[Tried]:
    """Yield the decisions of a game, or of some of its seats, with what all actions bring."""
    trials = Trials(reference)
    for number, step in enumerate(game.steps()):
        mask, view = np.zeros((1, ACTION_COUNT), np.int8), np.zeros(1, VIEW)
        mark_legal_at(step.before, 0, mask)
        actions = mask[0].nonzero()[0]
        if len(actions) > 1 and step.before[0]["public"]["turn"] in seats:
            observe_at(step.before, 0, step.before[0]["public"]["turn"], view, 0)
            values = trials(view, actions, key_of(seed, number))
            yield Tried(number, step.move, view, actions, values)


def _options(actions: np.ndarray, values: np.ndarray) -> Iterator[Option]:
    means, errors = means_of(values)
    for k, action in enumerate(actions.tolist()):
        chance, points = (
            Estimate(float(means[k, what]), float(errors[k, what])) for what in (CHANCE, POINTS)
        )
        yield Option(MOVES[action], chance, points)


def _rate(losses: Iterable[tuple[int, float]]) -> Estimate:
    """Return a mean over decisions, each given with its hand, with an error clustered by hand."""
    hands: dict[int, list[float]] = {}
    for hand, loss in losses:
        hands.setdefault(hand, []).append(loss)
    count = sum(map(len, hands.values()))
    if not count:
        return Estimate(math.nan, math.nan)
    rate = sum(map(sum, hands.values())) / count
    if len(hands) < 2:
        return Estimate(rate, math.nan)
    apart = sum((sum(own) - rate * len(own)) ** 2 for own in hands.values())
    return Estimate(rate, math.sqrt(apart * len(hands) / (len(hands) - 1)) / count)


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return an HTML table from cells that need no escaping: moves and numbers."""
    lines = [_cells("th", head), *(_cells("td", row) for row in rows)]
    return f"<table><caption>{title}</caption>{''.join(lines)}</table>"


def _cells(kind: str, cells: Iterable[str]) -> str:
    style = f'<{kind} style="text-align:left">'
    return f"<tr>{''.join(f'{style}{cell}</{kind}>' for cell in cells)}</tr>"


def _percent(chance: Estimate) -> str:
    low, high = chance.interval
    return f"{100 * chance.mean:.1f} ({100 * low:.1f} .. {100 * high:.1f})"


def _bar(share: float) -> str:
    return f'<meter value="{share:.4f}">{share:.2f}</meter>'
