"""The playthrough of a game whose chance outcomes come one at a time; it does not need OpenSpiel.

The engine's GAME holds the whole boneyard in order. Here nothing is drawn before chance has decided
it: a move is tried on a second struct, and again with every tile that it draws, until all of its
draws are known. Only then is it made. The rules stay in the engine.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.legality import is_legal, mark_legal_at
from fiveup_env.engine.play import REFUSED, next_leader, play, start_given_hand
from fiveup_env.engine.state import (
    DOMINO,
    GAME,
    GAME_OVER,
    HAND_OVER,
    ONE,
    PLAYING,
    VIEW,
    Games,
    tile_count,
)
from fiveup_env.engine.state import NOBODY as NO_SEAT
from fiveup_env.engine.view import observe_at
from fiveup_env.envs.episodes import EPISODES, ONE_HAND, Episodes, refusal, write_returns
from fiveup_env.errors import DealError, IllegalMoveError
from fiveup_env.native import Bytes, compiled, signed
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, PASS
from fiveup_env.rules.fields import DRAW_OPTIONAL, LEAD_ANY, MAX_PLAYERS, Rules
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

# Who acts when it is not a seat; the numbers are OpenSpiel's.
CHANCE, NOBODY = -1, -4
# The stages: what chance is to decide, or that a seat is to move.
DEALING, LEAD, MOVING, DRAWING = range(4)
# The rows of the GAME structs: the true game, and the one in which a move is tried.
NOW, TRIED = range(2)
# What a tried move leads to, unless it is a seat to move.
UNKNOWN_DRAW, HAND_ENDED = REFUSED - 1, REFUSED - 2

ACTION_TILES = ACTION_TILE.tolist()


class Playthrough:
    """A game from its first chance outcome to its end.

    Attributes:
        rules, episodes: the rules, and what an episode is.
        games: two GAME structs, in the rows NOW and TRIED.
        origin: the bytes of the first of them at the very beginning.
        stage: DEALING, LEAD, MOVING or DRAWING.
        mover: who acts: a seat, CHANCE, or NOBODY at the end.
        dealt: the tiles dealt in this hand so far, seat by seat, each hand by tile number.
        next_tiles: the tiles that the rest of the present hand comes from, by number.
        action, known: the move that chance interrupts, and how many of its draws are known.
        by_lot: whether chance decides who leads this hand, once it is dealt.
        finished: the GAME structs of the hands before this one, as bytes.
    """

    __slots__ = (
        "action",
        "by_lot",
        "dealt",
        "episodes",
        "finished",
        "games",
        "known",
        "mover",
        "next_tiles",
        "origin",
        "rules",
        "stage",
    )

    games: np.ndarray
    origin: bytes

    def __init__(self, rules: Rules, episodes: Episodes) -> None:
        """Begin with nothing dealt."""
        self.rules, self.episodes = rules, episodes
        game = np.zeros(1, GAME)
        game["public"]["rules"] = rules.to_struct()
        start_given_hand(game, NOW, 0)
        game["public"]["phase"] = HAND_OVER
        self._begin(game.tobytes())

    def beginning(self, scores: int | None = None, leader: int | None = None) -> Playthrough:
        """Return the playthrough before anything has happened.

        If they are given, the scores are others, and a seat leads that no lot has decided: then a
        hand has ended after which it is that seat's turn to lead.
        """
        game = _games_of(self.origin)
        public = game["public"][NOW]
        if scores is not None:
            public["scores"] = scores
        if leader is not None:
            public["ended"], public["plies"], public["play_seat"][0] = DOMINO, 1, leader
            public["lead"] = (leader - 1) % self.rules.players
        twin = self.copy()
        twin._begin(game.tobytes())  # noqa: SLF001 - it is a Playthrough too
        return twin

    def set_scores(self, scores: np.ndarray) -> None:
        """Set the present scores, and shift those at the beginning by the same difference."""
        game = _games_of(self.origin)
        game["public"]["scores"] += scores - self.games["public"]["scores"][NOW]
        self.games["public"]["scores"][NOW] = scores
        self.origin = game.tobytes()

    def copy(self) -> Playthrough:
        """Return an independent copy of the playthrough."""
        twin = object.__new__(Playthrough)
        for name in Playthrough.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.games = _games_of(self.games.tobytes())
        return twin

    def __deepcopy__(self, memo: object) -> Playthrough:
        """Return a copy; OpenSpiel clones a state by `copy.deepcopy` of what it holds."""
        return self.copy()

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance with their probabilities: tiles, or the seat that leads."""
        if self.stage == LEAD:
            return [(seat, 1 / self.rules.players) for seat in range(self.rules.players)]
        if self.stage == DEALING:
            wanted = self.rules.hand_size - len(self.dealt) % self.rules.hand_size
            shares = deal_shares(len(self.next_tiles), wanted)
            return list(zip(self.next_tiles, shares, strict=False))
        boneyard = int(self.games["public"]["boneyard"][NOW])
        tiles = sorted(self.games["order"][NOW, self.next_draw : boneyard].tolist())
        return [(tile, 1 / len(tiles)) for tile in tiles]

    def mask(self) -> np.ndarray:
        """Return a row with 1 for every legal action of the seat to move, and 0 for the others."""
        mask = np.zeros((1, ACTION_COUNT), np.int8)
        mark_legal_at(self.games, NOW, mask)
        return mask[0]

    def apply(self, action: int) -> None:
        """Apply a chance outcome, or make the move of the seat to move."""
        if self.stage == MOVING:
            self.action = action
            self._try()
        elif self.stage == DEALING:
            self._deal(action)
        elif self.stage == DRAWING:
            self._draw(action)
        else:
            self._start_hand(action)

    def returns(self) -> np.ndarray:
        """Return the returns of all seats: zeros before the end of the episode."""
        returns = np.zeros((1, self.rules.players))
        if self.mover == NOBODY:
            write_returns(self.games, NOW, self.episodes.codes, returns)
        return returns[0]

    def view(self, seat: int) -> np.ndarray:
        """Return a seat's view, as an array of one VIEW struct."""
        views = np.zeros(1, VIEW)
        observe_at(self.games, NOW, seat, views, 0)
        return views

    @property
    def next_draw(self) -> int:
        """The place in the boneyard of the tile that is drawn next."""
        return int(self.games["public"]["drawn"][NOW]) + self.known

    @property
    def drawer(self) -> int:
        """The seat for which chance draws."""
        return int(self.games["public"]["draw_seat"][TRIED, self.next_draw])

    def _begin(self, origin: bytes) -> None:
        self.origin, self.games = origin, _games_of(2 * origin)  # NOW and TRIED
        self.action, self.known, self.by_lot = REFUSED, 0, True
        self.finished: tuple[bytes, ...] = ()
        self._start_dealing()

    def _start_dealing(self) -> None:
        self.stage, self.mover, self.dealt = DEALING, CHANCE, b""
        self.next_tiles = bytes(range(self.rules.tile_count))

    def _deal(self, tile: int) -> None:
        hand_size = self.rules.hand_size
        wanted = hand_size - len(self.dealt) % hand_size
        if self.next_tiles.find(tile) not in range(len(self.next_tiles) - wanted + 1):
            raise DealError(
                f"tile {tile!r} cannot be dealt here: the rest of this hand is dealt in ascending "
                f"order of tile number, from {list(self.next_tiles)}"
            )
        self.dealt += bytes([tile])
        self.next_tiles = self.next_tiles[self.next_tiles.index(tile) + 1 :]
        if wanted == 1:
            self.next_tiles = bytes(sorted(set(range(self.rules.tile_count)) - set(self.dealt)))
        if len(self.dealt) == self.rules.players * hand_size:
            hand_out(self.games, np.frombuffer(self.dealt, np.uint8))
            self.stage = LEAD
            self.by_lot = lot_decides(self.games)
            if not self.by_lot:
                self._start_hand(0)

    def _start_hand(self, lot: int) -> None:
        start_given_hand(self.games, NOW, lot)
        self.stage, self.mover = MOVING, int(self.games["public"]["turn"][NOW])

    def _draw(self, tile: int) -> None:
        if not draw_next(self.games, self.known, tile):
            raise DealError(f"tile {tile!r} cannot be drawn: it is not in the boneyard")
        self.known += 1
        self._try()

    def _try(self) -> None:
        """Make the move, or let chance draw the next tile that it needs."""
        led_to = try_move(self.games, self.action, self.known)
        if led_to == REFUSED:
            raise IllegalMoveError(f"seat {self.mover}: {refusal(self.games, NOW, self.action)}")
        if led_to == UNKNOWN_DRAW:
            self.stage, self.mover = DRAWING, CHANCE
            return
        self.stage, self.mover, self.known = MOVING, led_to, 0
        if led_to == HAND_ENDED:
            self._end_hand()

    def _end_hand(self) -> None:
        public = self.games["public"][NOW]
        one_hand = self.episodes.episode == EPISODES[ONE_HAND]
        last = public["hand_number"] + 1 == self.episodes.max_hands
        if one_hand or last or public["phase"] == GAME_OVER:
            self.mover = NOBODY
            return
        self.finished = (*self.finished, self.games[NOW].tobytes())
        public["hand_number"] += 1
        self._start_dealing()


def _games_of(content: bytes) -> np.ndarray:
    """Return the GAME structs that bytes hold; NumPy copies nested structs by field, far slower."""
    return np.frombuffer(bytearray(content), GAME)


@cache
def deal_shares(tiles: int, wanted: int) -> tuple[float, ...]:
    """Return how likely each tile, in order of number, is to be the lowest of `wanted` dealt.

    A hand is dealt in ascending order of tile number, so that it comes about in only one way.
    """
    ways = comb(tiles, wanted)
    return tuple(comb(tiles - 1 - k, wanted - 1) / ways for k in range(tiles - wanted + 1))


@compiled
def hand_out(games: Games, dealt: Bytes) -> None:
    """Give each seat its hand, of the tiles dealt seat by seat; the rest form the boneyard."""
    game, rules = games[NOW], games[NOW].public.rules
    tiles = tile_count(rules)
    for seat in range(MAX_PLAYERS):
        game.hands[seat] = np.uint32(0)
    taken = np.uint32(0)
    for k in range(len(dealt)):
        bit = ONE << np.uint32(dealt[k])
        taken |= bit
        game.hands[k // rules.hand_size] |= bit
    place = 0
    for tile in range(TILE_COUNT):
        game.order[tile] = -1
        if tile < tiles and not taken >> np.uint32(tile) & ONE:
            game.order[place] = tile
            place += 1
    game.public.boneyard = place


@compiled
def lot_decides(games: Games) -> bool:
    """Return whether the seat that leads the next hand is drawn by lot."""
    public = games[NOW].public
    return next_leader(public) == NO_SEAT and public.rules.lead_tile == LEAD_ANY


@compiled
def try_move(games: Games, action: int, known: int) -> int:
    """Make a move if the known draws are all that it takes, and return what it leads to."""
    game = games[NOW]
    if not is_legal(game.public, game.hands[game.public.turn], action):
        return REFUSED
    games[TRIED] = games[NOW]
    play(games[TRIED], action)
    if games[TRIED].public.drawn > games[NOW].public.drawn + known:
        return UNKNOWN_DRAW
    games[NOW] = games[TRIED]
    return signed(game.public.turn) if game.public.phase == PLAYING else HAND_ENDED


@compiled
def draw_next(games: Games, known: int, tile: int) -> bool:
    """Put a boneyard tile where the tried move draws next; return False if it is not there."""
    game = games[NOW]
    place = game.public.drawn + known
    for k in range(place, game.public.boneyard):
        if game.order[k] == tile:
            game.order[k], game.order[place] = game.order[place], game.order[k]
            return True
    return False


def dealt_to(game: np.ndarray, seat: int) -> list[int]:
    """Return the tiles that a seat was dealt, by number."""
    struct = game[0]
    public = struct["public"]
    plies, drawn = int(public["plies"]), int(public["drawn"])
    held = int(struct["hands"][seat])
    played = zip(public["play_seat"][:plies].tolist(), public["play_action"].tolist(), strict=False)
    for by, action in played:
        if by == seat:
            held |= 1 << ACTION_TILES[action]
    drew = zip(public["draw_seat"][:drawn].tolist(), struct["order"].tolist(), strict=False)
    for by, tile in drew:
        if by == seat:
            held &= ~(1 << tile)
    return tiles_of(held)


def tiles_of(hand: int) -> list[int]:
    """Return the numbers of the tiles in a mask."""
    return [tile for tile in range(TILE_COUNT) if hand >> tile & 1]


def hand_actions(game: np.ndarray, *, by_lot: bool) -> Iterator[int]:
    """Yield every action since the beginning of a GAME's hand, of chance and of seats."""
    struct = game[0]
    public, order = struct["public"], struct["order"].tolist()
    rules, drawn, plies = public["rules"], int(public["drawn"]), int(public["plies"])
    for seat in range(rules["players"]):
        yield from dealt_to(game, seat)
    if by_lot:
        yield int(public["lead"])
    optional = rules["draw"] == DRAW_OPTIONAL
    movers = [*public["play_seat"][:plies].tolist(), int(public["turn"])]
    draws = list(zip(public["draw_seat"].tolist(), public["draw_ply"].tolist(), order, strict=True))
    seat, k = int(public["lead"]), 0
    for ply, mover in enumerate(movers):
        while True:
            while k < drawn and draws[k][:2] == (seat, ply):
                if optional:
                    yield DRAW
                yield draws[k][2]
                k += 1
            if seat == mover:
                break
            if optional:
                yield PASS
            seat = (seat + 1) % rules["players"]
        if ply < plies:
            yield int(public["play_action"][ply])
            seat = (seat + 1) % rules["players"]
