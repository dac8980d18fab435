"""Words for games, shared by transcripts, pictures and replays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fiveup_env.rules.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game

ENDED: Final[Mapping[str | None, str]] = {
    None: "unfinished",
    "domino": "dominoed",
    "blocked": "blocked",
    "target": "reached the target",
}


def move_text(move: Json) -> str:
    """Describe a recorded move: `draws 3-3 6-0, sets 6-0 on the 6: total 10, +2`."""
    drew = f"draws {tile_names(move['draws'])}, " if move["draws"] else ""
    if move["play"] is None:
        return f"{drew}passes"
    on = move["on"]
    where = f" on the {on['pip']}{' double' if on['end'] == 'double' else ''}" if on else ""
    gain = f", {move['points']:+d}" if move["points"] else ""
    return f"{drew}sets {tile_names([move['play']])}{where}: total {move['total']}{gain}"


def hand_end(hand: Json) -> str:
    """Describe the end of a recorded hand: `dominoed, end points -2 : -3`."""
    brought = f", end points {score_line(hand['end_points'])}" if hand["end_points"] else ""
    return f"{ENDED[hand['ended']]}{brought}"


def outcome_line(game: Game) -> str:
    """Name the winner, or say that the game is not finished, with the scores."""
    outcome = game.outcome()
    if outcome is None:
        return f"Not finished; scores {score_line(game.scores)}"
    who = " and ".join(map(str, outcome.seats))
    seats = f"Seats {who} win" if len(outcome.seats) > 1 else f"Seat {who} wins"
    return f"{seats}, {score_line(outcome.scores)}"


def tile_names(names: Iterable[Tile | str]) -> str:
    """Return tiles one after the other, or `none`."""
    return " ".join(str(Tile.parse(name)) for name in names) or "none"


def score_line(scores: Iterable[int]) -> str:
    """Return the scores of the sides: `12 : 8`."""
    return " : ".join(map(str, scores))
