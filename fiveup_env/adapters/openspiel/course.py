"""The course of a game whose chance comes one outcome after the other; OpenSpiel is not needed.

The engine's GAME has the whole boneyard in its order. Here nothing is drawn before chance has said
what: a move is tried on a second record, and again with every tile that it draws, until all its
draws are known. Only then it is made. The rules stay where they are, in the engine.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.compiled import Array, compiled, signed
from fiveup_env.engine.legality import is_legal, mark_legal_at
from fiveup_env.engine.play import REFUSED, play, start_given_hand
from fiveup_env.engine.state import DOMINO, GAME, GAME_OVER, HAND_OVER, ONE, PLAYING
from fiveup_env.engine.view import VIEW, observe_at
from fiveup_env.envs.episodes import EPISODES, ONE_HAND, Episodes, refusal, write_returns
from fiveup_env.errors import DealError, IllegalMoveError
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, PASS
from fiveup_env.rules.fields import DRAW_OPTIONAL, MAX_PLAYERS, Rules
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

# Who acts, where it is no seat; the numbers are OpenSpiel's.
CHANCE, NOBODY = -1, -4
# What chance is to say, unless a seat is to move.
DEALING, LEAD, MOVING, DRAWING = range(4)
# The rows of the GAME records: the truth, and the move that is being tried.
NOW, TRIED = range(2)
# What a tried move leads to, unless it is a seat that is to move.
UNKNOWN_DRAW, HAND_ENDED = REFUSED - 1, REFUSED - 2

ACTION_TILES = ACTION_TILE.tolist()


class Course:
    """A game from its first chance to its end.

    Attributes:
        rules, episodes: the rules, and what an episode is.
        games: GAME records, by the rows above.
        origin: the bytes of the first of them, as it all began.
        stage: what is to come.
        mover: who acts: a seat, CHANCE, or NOBODY at the end.
        dealt: the tiles dealt in this hand so far, seat by seat, each hand by number.
        next_tiles: those that may be dealt next, by number.
        action, known: the move that chance interrupts, and how many of its draws are known.
        by_lot: whether the lot named who leads this hand.
        finished: the GAME records of the hands before this one, as bytes.
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

    def beginning(self, scores: int | None = None) -> Course:
        """The course as it was before anything happened, or with these scores by then."""
        game = _games_of(self.origin)
        if scores is not None:
            game["public"]["scores"] = scores
        twin = self.copy()
        twin._begin(game.tobytes())  # noqa: SLF001 - a twin's own
        return twin

    def count_from(self, scores: np.ndarray) -> None:
        """Let the scores be these now, and have been as much less at the beginning as they were."""
        game = _games_of(self.origin)
        game["public"]["scores"] += scores - self.games["public"]["scores"][NOW]
        self.games["public"]["scores"][NOW] = scores
        self.origin = game.tobytes()

    def copy(self) -> Course:
        """The same course, to go on by itself."""
        twin = object.__new__(Course)
        for name in Course.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.games = _games_of(self.games.tobytes())
        return twin

    def __deepcopy__(self, memo: object) -> Course:
        """OpenSpiel clones a state by `copy.deepcopy` of what it holds."""
        return self.copy()

    def outcomes(self) -> list[tuple[int, float]]:
        """What chance may say, and how probably: tiles, or the seat that leads."""
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
        """1 for every action that the seat to move may do."""
        mask = np.zeros((1, ACTION_COUNT), np.int8)
        mark_legal_at(self.games, NOW, mask)
        return mask[0]

    def go_on(self, action: int) -> None:
        """Take what chance says, or make the move of the seat to move."""
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
        """What the episode has brought each seat; nothing before its end."""
        returns = np.zeros((1, self.rules.players))
        if self.mover == NOBODY:
            write_returns(self.games, NOW, self.episodes.codes, returns)
        return returns[0]

    def view(self, seat: int) -> np.ndarray:
        """What a seat may know: an array of one VIEW record."""
        views = np.zeros(1, VIEW)
        observe_at(self.games, NOW, seat, views, 0)
        return views

    @property
    def next_draw(self) -> int:
        """The place of the tile that is drawn next."""
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
                f"tile {tile!r} cannot be dealt here: each hand is dealt by its tiles' numbers, "
                f"and these may be next: {list(self.next_tiles)}"
            )
        self.dealt += bytes([tile])
        self.next_tiles = self.next_tiles[self.next_tiles.index(tile) + 1 :]
        if wanted == 1:
            self.next_tiles = bytes(set(range(self.rules.tile_count)) - set(self.dealt))
        if len(self.dealt) == self.rules.players * hand_size:
            hand_out(self.games, np.frombuffer(self.dealt, np.uint8))
            self.stage = LEAD
            self.by_lot = self.games["public"]["ended"][NOW] != DOMINO
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
    """GAME records that are some bytes. NumPy copies nested records far slower, by their fields."""
    return np.frombuffer(bytearray(content), GAME)


@cache
def deal_shares(tiles: int, wanted: int) -> tuple[float, ...]:
    """How likely each of some tiles, by number, is the lowest of so many that are dealt.

    A hand is dealt in the order of its tiles' numbers, so that it comes about in one way only.
    """
    ways = comb(tiles, wanted)
    return tuple(comb(tiles - 1 - k, wanted - 1) / ways for k in range(tiles - wanted + 1))


@compiled
def hand_out(games: Array, dealt: Array) -> None:
    """Give each seat its hand, of the tiles dealt seat by seat; the rest are the boneyard."""
    game, rules = games[NOW], games[NOW].public.rules
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
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
def try_move(games: Array, action: int, known: int) -> int:
    """Make a move if so many known draws are all that it takes; answer what it leads to."""
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
def draw_next(games: Array, known: int, tile: int) -> bool:
    """Put a tile of the boneyard where the move that is tried draws next; False if it is gone."""
    game = games[NOW]
    place = game.public.drawn + known
    for k in range(place, game.public.boneyard):
        if game.order[k] == tile:
            game.order[k], game.order[place] = game.order[place], game.order[k]
            return True
    return False


def dealt_to(game: np.ndarray, seat: int) -> list[int]:
    """The tiles that a seat was dealt, by number."""
    record = game[0]
    public = record["public"]
    plies, drawn = int(public["plies"]), int(public["drawn"])
    held = int(record["hands"][seat])
    played = zip(public["play_seat"][:plies].tolist(), public["play_action"].tolist(), strict=False)
    for by, action in played:
        if by == seat:
            held |= 1 << ACTION_TILES[action]
    drew = zip(public["draw_seat"][:drawn].tolist(), record["order"].tolist(), strict=False)
    for by, tile in drew:
        if by == seat:
            held &= ~(1 << tile)
    return tiles_of(held)


def tiles_of(hand: int) -> list[int]:
    """The numbers of the tiles in a mask."""
    return [tile for tile in range(TILE_COUNT) if hand >> tile & 1]


def hand_actions(game: np.ndarray, *, by_lot: bool) -> Iterator[int]:
    """All that led to a GAME record from the beginning of its hand: chance and decisions."""
    record = game[0]
    public, order = record["public"], record["order"].tolist()
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
