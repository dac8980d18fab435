"""What a seat sees at every moment between two of its decisions, as pictures and words show it.

Everything here is made from VIEWs, so that nothing can be shown that the seat may not know. Forced
draws and passes leave no state of their own in the engine: they are read off two views.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fiveup_env.drawing.words import hand_end, score_line, tile_names
from fiveup_env.engine.state import BLOCKED, NOBODY, NOT_ENDED, PLAYING
from fiveup_env.game.values import ending_of, plays_of
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.tiles import TILES, Tile, tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from fiveup_env.game.values import Outcome
    from fiveup_env.rules.actions import Move


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What a seat sees at one moment, and what was just said."""

    rules: Rules
    seat: int  # whose sight it is
    number: int  # of the hand
    lead: int
    turn: int | None  # None between two hands, and once the game is over
    plays: tuple[Move, ...]
    total: int
    sizes: tuple[int, ...]
    hand: tuple[Tile, ...]
    boneyard: int
    scores: tuple[int, ...]
    behind: tuple[int, ...]  # each score before it last changed
    said: str = ""
    kind: str = "now"  # deal, play, draw, pass, end, over or now

    @classmethod
    def of(cls, view: np.ndarray, behind: tuple[int, ...] | None = None) -> Sight:
        """Return the sight of an array of one VIEW."""
        public, rules = view[0]["public"], Rules.from_struct(view[0]["public"]["rules"])
        scores = tuple(public["scores"][: rules.sides].tolist())
        return cls(
            rules=rules,
            seat=int(view[0]["seat"]),
            number=int(public["hand_number"]),
            lead=int(public["lead"]),
            turn=int(public["turn"]) if public["phase"] == PLAYING else None,
            plays=plays_of(public),
            total=int(public["layout"]["total"]),
            sizes=tuple(public["sizes"][: rules.players].tolist()),
            hand=tuple(tiles_in(int(view[0]["hand"]))),
            boneyard=int(public["boneyard"] - public["drawn"]),
            scores=scores,
            behind=scores if behind is None else behind,
        )

    def who(self, seat: int, verb: str) -> str:
        """Return a seat as the subject of a sentence: `You pass`, `Seat 2 passes`."""
        if seat == self.seat:
            return f"You {verb}"
        return f"Seat {seat} {verb}{'es' if verb.endswith('s') else 's'}"

    def scored(self, scores: tuple[int, ...]) -> Sight:
        """Return the sight with new scores."""
        behind = tuple(
            old if old != new else before
            for old, new, before in zip(self.scores, scores, self.behind, strict=True)
        )
        return replace(self, scores=scores, behind=behind)

    def resized(self, seat: int, by: int) -> tuple[int, ...]:
        """Return the sizes of the hands with one of them changed."""
        return tuple(size + by * (k == seat) for k, size in enumerate(self.sizes))


def sights_between(now: Sight, before: np.ndarray, after: np.ndarray) -> Iterator[Sight]:
    """Yield what a seat sees from one move of the game to the next, the end of a hand included.

    `now` is the sight of `before`; both views are arrays of one VIEW, of the same seat and hand.
    """
    old, new = before[0]["public"], after[0]["public"]
    players, seat = now.rules.players, int(old["turn"])
    if new["plies"] > old["plies"]:
        now = _played(now, seat, before, after)
        yield now
        seat = (seat + 1) % players
        if new["ended"] not in {NOT_ENDED, BLOCKED}:
            seat = NOBODY
    for _ in range(players if seat != NOBODY else 0):
        drawn = [k for k in range(old["drawn"], new["drawn"]) if new["draw_seat"][k] == seat]
        if drawn:
            now = _drew(now, seat, [int(after[0]["drawn"][k]) for k in drawn])
            yield now
        if new["phase"] == PLAYING and seat == new["turn"]:
            break
        now = replace(now, said=f"{now.who(seat, 'pass')}.", kind="pass")
        yield now
        seat = (seat + 1) % players
        if new["plies"] == old["plies"]:  # drawing is a choice here, and so was this pass
            break
    if new["phase"] != PLAYING:
        yield _ended(now, after)


def _played(now: Sight, seat: int, before: np.ndarray, after: np.ndarray) -> Sight:
    old, new = before[0]["public"], after[0]["public"]
    move, side = MOVES[new["play_action"][old["plies"]]], now.rules.side_of(seat)
    points = int(new["scores"][side] - old["scores"][side] - new["end_points"][side])
    total = int(new["layout"]["total"])
    where = "" if move.pip is None else f" on the {move.pip}"
    where += " double" if move.end == "double" else ""
    gain = f", {points} point{'s' if points != 1 else ''}" if points else ""
    scores = tuple(score + points * (k == side) for k, score in enumerate(now.scores))
    verb = "set" if move.pip is not None else "lead"
    return replace(
        now.scored(scores),
        turn=None,
        plays=(*now.plays, move),
        total=total,
        sizes=now.resized(seat, -1),
        hand=tuple(tile for tile in now.hand if seat != now.seat or tile != move.tile),
        said=f"{now.who(seat, verb)} {move.tile}{where}: total {total}{gain}.",
        kind="play",
    )


def _drew(now: Sight, seat: int, tiles: list[int]) -> Sight:
    """Return the sight after a seat has drawn; the tiles are -1 where they are another seat's."""
    own = [TILES[tile] for tile in tiles if tile >= 0]
    count = f"{len(tiles)} tile{'s' if len(tiles) > 1 else ''}"
    what = f"{count}: {tile_names(own)}" if own else count
    return replace(
        now,
        sizes=now.resized(seat, len(tiles)),
        hand=tuple(sorted([*now.hand, *own], key=lambda tile: tile.id)),
        boneyard=now.boneyard - len(tiles),
        said=f"{now.who(seat, 'draw')} {what}.",
        kind="draw",
    )


def _ended(now: Sight, after: np.ndarray) -> Sight:
    public, sides = after[0]["public"], now.rules.sides
    ended = ending_of(public)
    paid = None if ended == "target" else public["end_points"][:sides].tolist()
    scores = tuple(public["scores"][:sides].tolist())
    how = hand_end({"ended": ended, "end_points": paid})
    said = f"Hand {now.number} {how}; scores {score_line(scores)}."
    return replace(now.scored(scores), turn=None, said=said, kind="end")


def dealt(view: np.ndarray, behind: tuple[int, ...]) -> Sight:
    """Return the sight of a new deal, from an array of one VIEW."""
    now = Sight.of(view, behind)
    said = f"Hand {now.number} is dealt. {now.who(now.lead, 'lead')}."
    return replace(now, said=said, kind="deal")


def over(now: Sight, outcome: Outcome) -> Sight:
    """Return the sight at the end of the game."""
    won = now.seat in outcome.seats
    verdict = "You win" if won else "You lose"
    return replace(now, said=f"{verdict}, {score_line(outcome.scores)}.", kind="over")
