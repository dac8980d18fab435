"""What a picture shows of a game at one moment, taken from a game or built move by move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fiveup_env.drawing.felt.boxes import Sizes
from fiveup_env.drawing.placement import place
from fiveup_env.drawing.words import ENDED, outcome_line
from fiveup_env.game.values import plays_of
from fiveup_env.rules.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.drawing.placement import Placement
    from fiveup_env.files import Json
    from fiveup_env.game.game import Game
    from fiveup_env.game.values import Step
    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.fields import Rules

SIZES: Final = Sizes((4, 2), (2, 4), (2, 2), 3.0)  # a cell is half the width of a tile
LAYOUT_WIDTH: Final = 48  # cells, if possible


def placement_of(plays: Sequence[Move], rules: Rules) -> Placement | None:
    """Return the places of tiles, or None before the lead."""
    return place(plays, rules.spinners, SIZES, LAYOUT_WIDTH)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The content of a picture of a game at one moment.

    `placement` may hold tiles that are set later, so that no tile ever moves to make room.
    """

    rules: Rules
    number: int  # of the hand
    plays: Sequence[Move]
    placement: Placement | None
    hands: Sequence[Sequence[Tile]]
    turn: int | None
    boneyard: int
    scores: tuple[int, ...]
    before: tuple[int, ...]  # each score before it last changed
    reach: tuple[int, ...] = ()  # scores that the track must include
    note: str = ""  # what happened last
    status: str = ""  # who is to move, or who won

    @classmethod
    def of(cls, game: Game, *, finished: bool = False) -> Snapshot:
        """Return the snapshot of a game as it stands.

        With `finished`, it is that of the hand that ended last, before the next one was dealt.
        """
        steps = list(game.steps())
        past = [step.before[0]["public"]["scores"].tolist() for step in reversed(steps)]
        if finished and not game.is_game_over():
            return cls._of_hand_end(game, past)
        return cls(
            rules=game.rules,
            number=game.hand_number,
            plays=game.plays,
            placement=placement_of(game.plays, game.rules),
            hands=[game.hand_of(seat) for seat in range(game.rules.players)],
            turn=game.turn,
            boneyard=game.boneyard_count,
            scores=game.scores,
            before=_scores_before(game.scores, past),
            note=_note(game, steps),
            status=outcome_line(game) if game.outcome() else f"seat {game.turn} to move",
        )

    @classmethod
    def _of_hand_end(cls, game: Game, past: list[list[int]]) -> Snapshot:
        last, number = game.last_hand(), game.hand_number - 1
        assert last is not None, "no hand has ended"
        plays, boneyard = hand_end_of(game)
        return cls(
            rules=game.rules,
            number=number,
            plays=plays,
            placement=placement_of(plays, game.rules),
            hands=last.left,
            turn=None,
            boneyard=boneyard,
            scores=last.scores,
            before=_scores_before(last.scores, past),
            note=f"hand {number} {ENDED[last.ended]}",
            status="the hand is over",
        )

    def after(self, move: Json, plays: Sequence[Move]) -> Snapshot:
        """Return the snapshot after a recorded move; `plays` are those of the whole hand."""
        seat, hands = move["player"], [list(hand) for hand in self.hands]
        hands[seat] = sorted([*hands[seat], *map(Tile.parse, move["draws"])], key=lambda t: t.id)
        boneyard = self.boneyard - len(move["draws"])
        if move["play"] is None:
            return replace(self, hands=hands, boneyard=boneyard, note=f"seat {seat} passed")
        tile, points = Tile.parse(move["play"]), move["points"]
        hands[seat].remove(tile)
        side = self.rules.side_of(seat)
        scores = [score + points * (k == side) for k, score in enumerate(self.scores)]
        return replace(
            self.scored(scores),
            plays=plays[: len(self.plays) + 1],
            hands=hands,
            boneyard=boneyard,
            note=play_note(seat, tile, points),
        )

    def scored(self, scores: Sequence[int]) -> Snapshot:
        """Return the snapshot with new scores."""
        before = tuple(
            old if old != new else behind
            for old, new, behind in zip(self.scores, scores, self.before, strict=True)
        )
        return replace(self, scores=tuple(scores), before=before)


def hand_end_of(game: Game) -> tuple[tuple[Move, ...], int]:
    """Return the plays of the hand that ended last, and how many tiles its boneyard kept."""
    public = game.hand_states()[game.hand_number - 1][0]["public"]
    return plays_of(public), int(public["boneyard"] - public["drawn"])


def _scores_before(scores: Sequence[int], past: list[list[int]]) -> tuple[int, ...]:
    """Return each score before it last changed, from those in the past, the latest first."""
    return tuple(
        next((earlier[side] for earlier in past if earlier[side] != score), score)
        for side, score in enumerate(scores)
    )


def _note(game: Game, steps: Sequence[Step]) -> str:
    """Return the last play of this hand or, before the lead, how the last hand ended."""
    if not game.plays:
        last = game.last_hand()
        return f"hand {game.hand_number - 1} {ENDED[last.ended]}" if last else ""
    step = next(step for step in reversed(steps) if step.move.tile is not None)
    before, after = step.before[0]["public"], step.after[0]["public"]
    seat = int(before["turn"])
    side = game.rules.side_of(seat)
    gained = after["scores"][side] - before["scores"][side] - after["end_points"][side]
    return play_note(seat, step.move.tile, gained)


def play_note(seat: int, tile: object, points: int) -> str:
    """Return a play in a few words."""
    return f"seat {seat} set {tile}{f', {points:+d}' if points else ''}"
