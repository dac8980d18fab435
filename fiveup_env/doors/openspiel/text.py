"""What seats see, as text: the whole history, or the table as it stands.

    p0 0-0 2-1 | lead 1 | 1:1-0 0+2-2 0:2-1@1 1+

Seat 0 was dealt 0-0 and 2-1; seat 1 led 1-0; seat 0 drew 2-2 and set 2-1 on 1; seat 1 drew a tile
that seat 0 does not see. Moves are written as `Move` writes them, and passes follow from the seats.
Earlier hands come first, each with the scores that it led to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.state import GAME, PLAYING
from fiveup_env.envs.playthrough import (
    ACTION_TILES,
    DRAWING,
    MOVING,
    NOW,
    TRIED,
    Playthrough,
    dealt_to,
    tiles_of,
)
from fiveup_env.game.values import Layout
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.tiles import PIP_COUNT, TILES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MOVE_TEXTS = tuple(map(str, MOVES))
TILE_TEXTS = tuple(map(str, TILES))


def history_text(playthrough: Playthrough, seats: Collection[int]) -> str:
    """Return all that everybody has seen, and what some seats were dealt and drew."""
    parts = []
    for content in playthrough.finished:
        finished = np.frombuffer(content, GAME)
        parts += _hand_parts(finished, int(finished["public"]["drawn"][0]), seats)
        parts.append(f"scores {_numbers(_scores(finished[0]['public']))}")
    if playthrough.stage in {MOVING, DRAWING}:
        row = NOW if playthrough.stage == MOVING else TRIED
        parts += _hand_parts(playthrough.games[row : row + 1], playthrough.next_draw, seats)
    else:
        parts += [_held(seat, _dealt_so_far(playthrough, seat)) for seat in seats]
    return " | ".join(parts)


def _hand_parts(game: np.ndarray, drawn: int, seats: Collection[int]) -> list[str]:
    """Return the parts of a hand's text; only its first `drawn` draws are known."""
    dealt = [_held(seat, dealt_to(game, seat)) for seat in seats]
    events = list(_events(game[0], drawn, seats))
    return [*dealt, f"lead {game[0]['public']['lead']}", *([" ".join(events)] if events else [])]


def _events(struct: np.void, drawn: int, seats: Collection[int]) -> Iterator[str]:
    """Yield the tiles drawn and set, in order."""
    public, order = struct["public"], struct["order"].tolist()
    plies = int(public["plies"])
    play_seat, play_action = public["play_seat"].tolist(), public["play_action"].tolist()
    draw_seat, draw_ply = public["draw_seat"].tolist(), public["draw_ply"].tolist()
    k = 0
    for ply in range(plies + 1):
        while k < drawn and draw_ply[k] == ply:
            yield f"{draw_seat[k]}+{TILE_TEXTS[order[k]] if draw_seat[k] in seats else ''}"
            k += 1
        if ply < plies:
            yield f"{play_seat[ply]}:{MOVE_TEXTS[play_action[ply]]}"


def table_text(playthrough: Playthrough, seats: Iterable[int], *, public: bool = True) -> str:
    """Return the hands of some seats and, if `public`, the table as it stands."""
    struct = playthrough.games[NOW]
    if playthrough.stage in {MOVING, DRAWING}:
        parts = [_held(seat, tiles_of(int(struct["hands"][seat]))) for seat in seats]
        seen = _table_parts(struct["public"])
    else:
        parts = [_held(seat, _dealt_so_far(playthrough, seat)) for seat in seats]
        seen = iter(("dealing", f"scores {_numbers(_scores(struct['public']))}"))
    return " | ".join([*parts, *seen] if public else parts)


def _table_parts(public: np.void) -> Iterator[str]:
    players = int(public["rules"]["players"])
    layout = Layout.of(public["layout"])
    yield f"turn {public['turn'] if public['phase'] == PLAYING else 'none'}, lead {public['lead']}"
    yield f"total {layout.total}: " + " ".join(f"{end}={end.counts}" for end in layout.ends)
    plies = int(public["plies"])
    for seat in range(players):
        tiles = [
            ACTION_TILES[action]
            for by, action in zip(public["play_seat"][:plies], public["play_action"], strict=False)
            if by == seat
        ]
        lacked = int(public["lacked"][seat])
        lacks = _numbers(pip for pip in range(PIP_COUNT) if lacked >> pip & 1)
        yield (
            f"{seat} holds {public['sizes'][seat]}, drew {public['draws'][seat]}, "
            f"lacked {lacks or 'none'}, set {_names(sorted(tiles)) or 'none'}"
        )
    yield f"boneyard {public['boneyard'] - public['drawn']}"
    yield f"scores {_numbers(_scores(public))}"


def _scores(public: np.void) -> list[int]:
    scores: list[int] = public["scores"][: int(public["rules"]["sides"])].tolist()
    return scores


def _held(seat: int, tiles: Iterable[int]) -> str:
    return f"p{seat} {_names(tiles)}".rstrip()


def _dealt_so_far(playthrough: Playthrough, seat: int) -> bytes:
    size = playthrough.rules.hand_size
    return playthrough.dealt[seat * size : (seat + 1) * size]


def _names(tiles: Iterable[int]) -> str:
    return " ".join(TILE_TEXTS[tile] for tile in tiles)


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))
