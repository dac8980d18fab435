"""A second engine, written from the rules page alone, to check the first one by.

It is as literal as a game on a table. The layout is the list of the tiles that lie there, and each
tile has its own places, every one of which is taken or not:

- a tile that is no double has two, its halves: place 0 is the lower one and place 1 the higher one;
- a double has four: places 0 and 1 are its long sides, and places 2 and 3 its short ends, which
  take tiles only at a spinner, and only when both sides are taken.

What can be played, and what the open ends count, is found by looking at every tile on the table,
every time. Nothing about the open ends is remembered from one move to the next.

Tiles are numbered by their higher half, then by the lower one, and a hand is a mask of such bits.
Actions have the same meaning in every game:

- 0..27: lead the tile of that number;
- 28..34: set the double of a pip on a plain end;
- 35..118: set a tile that is no double, four ways each, the tiles in the order of their numbers:
  the lower half on a plain end, the lower half on a double, then the higher half likewise;
- 119 and 120: draw and pass, only where drawing is optional.
"""

from typing import Any

import numpy as np
from numba import njit

TILES = 28
SET_DOUBLE = 28
SET_TILE = 35
DRAW = 119
PASS = 120
ACTIONS = 121

# The values of the rules, in the order of their numbers.
SPINNERS_ALL, SPINNERS_FIRST, SPINNERS_NONE = 0, 1, 2
UNTIL_PLAYABLE, OPTIONAL = 0, 1
SUBTRACT_OWN, WINNER_TAKES, ARMANINO = 0, 1, 2
PER_HAND, PER_SIDE, PER_ALL = 0, 1, 2
FINISH_HAND, IMMEDIATE = 0, 1
PAY_OTHERS, PAY_DIFFERENCE = 0, 1
LEAD_WINNER, LEAD_ROTATE = 0, 1
ANY_TILE, HIGHEST_DOUBLE = 0, 1

# Where a game stands, and how a hand ended.
TO_MOVE, HAND_OVER, GAME_OVER = 0, 1, 2
NOT_ENDED, DOMINO, BLOCKED, TARGET = 0, 1, 2, 3

NOBODY = -1
NO_TILE = -1

RULES = (
    *("players", "teams", "spinners", "hand_size", "draw", "reserve", "hand_end", "round_per"),
    *("unit", "target", "game_end", "exact_target", "multiple", "max_pip", "block_pays"),
    *("leader", "lead_tile"),
)

STATE = np.dtype(
    [
        *((name, np.int64) for name in RULES),
        ("sides", np.int64),
        ("phase", np.int64),
        ("turn", np.int64),  # once a hand is over, the seat that moved last
        ("lead", np.int64),
        ("must_lead", np.int64),  # the tile that has to be led, if any
        ("ended", np.int64),
        ("winner", np.int64),
        ("passes", np.int64),  # in a row
        ("scores", np.int64, (5,)),  # by side
        ("end_points", np.int64, (5,)),  # by side
        ("hands", np.uint32, (5,)),  # by seat
        ("order", np.int8, (TILES,)),  # of the boneyard
        ("boneyard", np.int64),  # how many tiles were in it
        ("drawn", np.int64),  # how many have been taken out of it
        ("laid", np.int64),  # how many tiles lie on the table
        ("tiles", np.int64, (TILES,)),  # in the order in which they were set
        ("spinner", np.int8, (TILES,)),
        ("taken", np.int8, (TILES, 4)),
    ],
    align=True,
)

HALVES = np.array([(low, high) for high in range(7) for low in range(high + 1)])
DOUBLES = np.array([tile for tile in range(TILES) if HALVES[tile, 0] == HALVES[tile, 1]])
PLAIN_TILES = np.array([tile for tile in range(TILES) if HALVES[tile, 0] != HALVES[tile, 1]])


def new_state(rules: np.ndarray) -> Any:
    """Return a game by these rules, an array of 17 numbers, before its first hand."""
    game = np.zeros(1, STATE)[0]
    for name, value in zip(RULES, rules, strict=True):
        game[name] = value
    game["sides"] = 2 if game["teams"] else game["players"]
    restart(game)
    return game


@njit(cache=True)  # type: ignore[untyped-decorator]
def restart(game: Any) -> None:
    """Take a game back to where it stands before its first hand."""
    game.phase = HAND_OVER
    game.ended = NOT_ENDED
    game.winner = NOBODY
    game.turn = game.lead = NOBODY
    game.must_lead = NO_TILE
    game.laid = game.boneyard = game.drawn = game.passes = 0
    for each in range(5):
        game.scores[each] = game.end_points[each] = game.hands[each] = 0


# Tiles and sides.


@njit(cache=True)  # type: ignore[untyped-decorator]
def is_double(tile: int) -> bool:
    """Say whether both halves of a tile show the same pip."""
    return HALVES[tile, 0] == HALVES[tile, 1]


@njit(cache=True)  # type: ignore[untyped-decorator]
def holds(hand: int, tile: int) -> bool:
    """Say whether a hand has a tile."""
    return (hand >> tile) & 1 == 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def pips_in(hand: int) -> int:
    """Return the pips on all tiles of a hand."""
    pips = 0
    for tile in range(TILES):
        if holds(hand, tile):
            pips += HALVES[tile, 0] + HALVES[tile, 1]
    return pips


@njit(cache=True)  # type: ignore[untyped-decorator]
def side_of(game: Any, seat: int) -> int:
    """Return the side that a seat plays for."""
    return seat % 2 if game.teams else seat


# The table.


@njit(cache=True)  # type: ignore[untyped-decorator]
def is_open(game: Any, at: int, place: int) -> bool:
    """Say whether a place of the tile that was set as number ``at`` can take another tile."""
    if game.taken[at, place]:
        return False
    if place < 2:
        return True
    # Only doubles that are spinners have ends, and they open when both sides are covered.
    return game.spinner[at] and game.taken[at, 0] and game.taken[at, 1]


@njit(cache=True)  # type: ignore[untyped-decorator]
def total(game: Any) -> int:
    """Return what all open ends count together."""
    pips = 0
    for at in range(game.laid):
        tile = game.tiles[at]
        if is_double(tile):
            if is_open(game, at, 0) or is_open(game, at, 1):
                pips += HALVES[tile, 0] + HALVES[tile, 1]
        else:
            for half in range(2):
                if is_open(game, at, half):
                    pips += HALVES[tile, half]
    return pips


@njit(cache=True)  # type: ignore[untyped-decorator]
def open_pips(game: Any) -> tuple[int, int]:
    """Return a mask of the pips at plain ends and one of the pips whose double has a free place."""
    plain = at_double = 0
    for at in range(game.laid):
        tile = game.tiles[at]
        for place in range(4):
            if is_open(game, at, place):
                if is_double(tile):
                    at_double |= 1 << HALVES[tile, place % 2]
                else:
                    plain |= 1 << HALVES[tile, place]
    return plain, at_double


@njit(cache=True)  # type: ignore[untyped-decorator]
def first_place(game: Any, pip: int, at_double: bool) -> tuple[int, int]:
    """Return the tile on the table, by its number there, and its place that a pip is set to.

    Where several places fit, it is the first. Any other would do: plain ends with the same pip
    count the same and take the same tiles, and so do the two sides, or the two ends, of a double.
    """
    for at in range(game.laid):
        tile = game.tiles[at]
        if is_double(tile) == at_double:
            for place in range(4):
                if HALVES[tile, place % 2] == pip and is_open(game, at, place):
                    return at, place
    raise ValueError("No place on the table fits this action.")


@njit(cache=True)  # type: ignore[untyped-decorator]
def lay(game: Any, tile: int) -> int:
    """Put a tile on the table, all its places free, and return its number there."""
    at = game.laid
    spins = is_double(tile) and game.spinners != SPINNERS_NONE
    if game.spinners == SPINNERS_FIRST:
        for before in range(at):
            if is_double(game.tiles[before]):
                spins = False
    game.laid = at + 1
    game.tiles[at] = tile
    game.spinner[at] = spins
    game.taken[at, :] = False
    return at


@njit(cache=True)  # type: ignore[untyped-decorator]
def set_tile(game: Any, action: int) -> int:
    """Set the tile of an action, join it to what it is set to, and return its number."""
    if action < SET_DOUBLE:
        lay(game, action)
        return action
    if action < SET_TILE:
        tile, half, at_double = DOUBLES[action - SET_DOUBLE], 0, False
    else:
        rank, way = divmod(action - SET_TILE, 4)
        tile, half, at_double = PLAIN_TILES[rank], way // 2, way % 2 == 1
    at, place = first_place(game, HALVES[tile, half], at_double)
    game.taken[at, place] = True
    # A double goes across its arm, so that it joins with a side: it has no half 0, but a side 0.
    game.taken[lay(game, tile), half] = True
    return tile


# Turns.


@njit(cache=True)  # type: ignore[untyped-decorator]
def may_draw(game: Any) -> bool:
    """Say whether the boneyard has a tile left that may be drawn."""
    return game.drawn < game.boneyard - game.reserve


@njit(cache=True)  # type: ignore[untyped-decorator]
def can_set(game: Any) -> bool:
    """Say whether the player to move has a tile that can be set on the layout."""
    plain, at_double = open_pips(game)
    hand = game.hands[game.turn]
    for tile in range(TILES):
        if holds(hand, tile):
            ends = plain if is_double(tile) else plain | at_double
            if (ends >> HALVES[tile, 0]) & 1 or (ends >> HALVES[tile, 1]) & 1:
                return True
    return False


@njit(cache=True)  # type: ignore[untyped-decorator]
def mark_sets(game: Any, mask: np.ndarray) -> int:
    """Mark every legal way to set a tile on the layout, and return how many there are."""
    plain, at_double = open_pips(game)
    hand = game.hands[game.turn]
    count = 0
    for pip, tile in enumerate(DOUBLES):
        if holds(hand, tile) and (plain >> pip) & 1:
            mask[SET_DOUBLE + pip] = 1
            count += 1
    for rank, tile in enumerate(PLAIN_TILES):
        if holds(hand, tile):
            for way in range(4):
                ends = plain if way % 2 == 0 else at_double
                if (ends >> HALVES[tile, way // 2]) & 1:
                    mask[SET_TILE + 4 * rank + way] = 1
                    count += 1
    return count


@njit(cache=True)  # type: ignore[untyped-decorator]
def legal(game: Any, mask: np.ndarray) -> int:
    """Mark every legal action in an array of zeros, and return how many there are."""
    if game.phase != TO_MOVE:
        return 0
    count = 0
    if game.laid:
        count = mark_sets(game, mask)
    else:
        for tile in range(TILES):
            if holds(game.hands[game.turn], tile) and game.must_lead in (NO_TILE, tile):
                mask[tile] = 1
                count += 1
    if game.draw == OPTIONAL:
        if may_draw(game):
            mask[DRAW] = 1
            count += 1
        elif count == 0:
            mask[PASS] = 1
            count = 1
    return count


@njit(cache=True)  # type: ignore[untyped-decorator]
def draw_tile(game: Any) -> None:
    """Move the next tile of the boneyard to the hand of the player to move."""
    tile = game.order[game.drawn]
    game.drawn += 1
    game.hands[game.turn] |= np.uint32(1 << tile)


@njit(cache=True)  # type: ignore[untyped-decorator]
def pass_turn(game: Any) -> None:
    """Pass, which ends the hand when every player in turn has done so."""
    game.passes += 1
    if game.passes == game.players:
        end_hand(game, BLOCKED)
    else:
        game.turn = (game.turn + 1) % game.players


@njit(cache=True)  # type: ignore[untyped-decorator]
def play(game: Any, action: int) -> None:
    """Make a legal action, with all that follows by itself up to the next decision."""
    if action == DRAW:
        draw_tile(game)
        return
    if action == PASS:
        pass_turn(game)
        return
    tile = set_tile(game, action)
    game.hands[game.turn] ^= np.uint32(1 << tile)
    game.passes = 0
    ends = total(game)
    if ends % game.multiple == 0:
        side = side_of(game, game.turn)
        points = score(game, side, ends // game.multiple)
        if game.game_end == IMMEDIATE and points > 0 and game.scores[side] >= game.target:
            game.phase, game.ended, game.winner = GAME_OVER, TARGET, side
            return
    if game.hands[game.turn] == 0:
        end_hand(game, DOMINO)
        return
    game.turn = (game.turn + 1) % game.players
    if game.draw == UNTIL_PLAYABLE:
        while game.phase == TO_MOVE and not can_set(game):
            if may_draw(game):
                draw_tile(game)
            else:
                pass_turn(game)


# Points.


@njit(cache=True)  # type: ignore[untyped-decorator]
def score(game: Any, side: int, multiples: int) -> int:
    """Add what a side gains or loses to its score, and return the points that were added."""
    points = multiples * game.unit
    if game.exact_target and points > 0 and game.scores[side] + points > game.target:
        return 0
    game.scores[side] += points
    return points


@njit(cache=True)  # type: ignore[untyped-decorator]
def rounded(game: Any, pips: int) -> int:
    """Return pips to the nearest multiple, in multiples."""
    return (pips + (game.multiple - 1) // 2) // game.multiple


@njit(cache=True)  # type: ignore[untyped-decorator]
def rounded_pips(game: Any, side: int, own: bool) -> int:
    """Return the pips left to a side itself, or to all others, rounded as the rules say."""
    piles = np.zeros(5, np.int64)  # each is rounded by itself
    for seat in range(game.players):
        if (side_of(game, seat) == side) == own:
            pile = 0
            if game.round_per == PER_HAND:
                pile = seat
            elif game.round_per == PER_SIDE:
                pile = side_of(game, seat)
            piles[pile] += pips_in(game.hands[seat])
    multiples = 0
    for pips in piles:
        multiples += rounded(game, pips)
    return multiples


@njit(cache=True)  # type: ignore[untyped-decorator]
def strictly_lowest(numbers: np.ndarray) -> int:
    """Return where the lowest of some numbers is, or -1 if it is there more than once."""
    where = int(np.argmin(numbers))
    for other, number in enumerate(numbers):
        if other != where and number == numbers[where]:
            return -1
    return where


@njit(cache=True)  # type: ignore[untyped-decorator]
def end_gains(game: Any, ended: int) -> np.ndarray:
    """Return what the end of a hand brings every side, in multiples, before any target."""
    sides = game.sides
    gains = np.zeros(sides, np.int64)
    if game.hand_end == SUBTRACT_OWN:
        for side in range(sides):
            gains[side] = -rounded_pips(game, side, True)
        return gains
    pips = np.zeros(sides, np.int64)
    for seat in range(game.players):
        pips[side_of(game, seat)] += pips_in(game.hands[seat])
    # Armanino's own rules are for three sides; otherwise the winner takes.
    armanino = game.hand_end == ARMANINO and sides == 3
    if ended == DOMINO:
        winner = side_of(game, game.turn)
        gains[winner] = rounded_pips(game, winner, False)
        if armanino:
            one, two = (winner + 1) % 3, (winner + 2) % 3
            lower = one if pips[one] < pips[two] else two
            gains[lower] = rounded(game, abs(pips[one] - pips[two]))
        return gains
    winner = strictly_lowest(pips)
    if winner != -1:
        if armanino or game.block_pays == PAY_DIFFERENCE:
            gains[winner] = rounded(game, pips.sum() - 2 * pips[winner])
        else:
            gains[winner] = rounded_pips(game, winner, False)
    elif sides == 3 and not armanino:
        third = strictly_lowest(-pips)
        if third != -1:
            gains[:] = (pips[third] + game.multiple - 1) // (2 * game.multiple)
            gains[third] = 0
    return gains


@njit(cache=True)  # type: ignore[untyped-decorator]
def end_hand(game: Any, ended: int) -> None:
    """End a hand that was dominoed or blocked: count it, and see whether the game is over."""
    game.ended = ended
    gains = end_gains(game, ended)
    for side, gain in enumerate(gains):
        game.end_points[side] = score(game, side, gain)
    scores = game.scores[: len(gains)]
    top = strictly_lowest(-scores)
    if top != -1 and scores[top] >= game.target:
        game.phase, game.winner = GAME_OVER, top
    else:
        game.phase = HAND_OVER


# The start of a hand.


@njit(cache=True)  # type: ignore[untyped-decorator]
def tile_that_leads(hands: np.ndarray) -> int:
    """Return the highest double that was dealt, or without doubles the heaviest tile."""
    best, most = NO_TILE, -1
    for tile in range(TILES):
        weight = HALVES[tile, 0] + HALVES[tile, 1] + (100 if is_double(tile) else 0)
        for hand in hands:
            # Of equally heavy tiles, the later one has the higher half.
            if holds(hand, tile) and weight >= most:
                best, most = tile, weight
    return best


@njit(cache=True)  # type: ignore[untyped-decorator]
def find_leader(game: Any, lot: int) -> int:
    """Return the seat that leads the hand just dealt, and note a tile that it has to lead."""
    game.must_lead = NO_TILE
    if game.ended != NOT_ENDED:
        if game.leader == LEAD_ROTATE:
            return (game.lead + 1) % game.players
        if game.ended == DOMINO:
            return game.turn
    if game.lead_tile == HIGHEST_DOUBLE:
        game.must_lead = tile_that_leads(game.hands)
        for seat in range(game.players):
            if holds(game.hands[seat], game.must_lead):
                return seat
    return lot


@njit(cache=True)  # type: ignore[untyped-decorator]
def start_hand(game: Any, hands: np.ndarray, order: np.ndarray, lot: int) -> None:
    """Begin the next hand with these tiles.

    Args:
        game: A game before its first hand, or between two hands.
        hands: The mask of every seat's tiles, none for a seat that does not play.
        order: The tiles of the boneyard in the order in which they are drawn, then -1.
        lot: The seat that leads if the lot decides.
    """
    game.hands[:] = hands
    game.order[:] = order
    game.boneyard = np.sum(order >= 0)
    game.lead = game.turn = find_leader(game, lot)
    game.phase, game.ended = TO_MOVE, NOT_ENDED
    game.end_points[:] = 0
    game.laid = game.drawn = game.passes = 0
