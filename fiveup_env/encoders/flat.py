"""`flat`: one row with all that a player can know, except the order of the plays."""

from __future__ import annotations

import numpy as np

from fiveup_env.encoders.pieces import CompiledEncoder, Piece, offsets
from fiveup_env.engine.layout import (
    ALL_DOUBLES,
    TILE_HIGH,
    TILE_LOW,
    double_loses,
    playable,
    total_after,
)
from fiveup_env.engine.legality import drawable, mark_legal
from fiveup_env.engine.scoring import FIVES, MAX_TOTAL
from fiveup_env.engine.state import ONE, PLAYING, Views, next_seat, side_of
from fiveup_env.native import Array, Int8Rows, Struct, compiled, inlined, lowest_bit, signed
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, FIRST_WAY
from fiveup_env.rules.fields import CHOICES, MAX_MULTIPLE, MAX_PLAYERS, MIN_PLAYERS
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT, TILE_PIPS

SEATS = MAX_PLAYERS
LARGEST = 127  # the largest int8
MAX_DRAWS = TILE_COUNT - MIN_PLAYERS
USUAL_POINTS = 15  # hardly any play scores more

# Numbers that may be large are written as this many digits of this many bits.
DIGITS = 3
DIGIT_BITS = 7


def _one_of(field: str, meaning: str) -> Piece:
    """Return the piece of a rule field whose values are words."""
    values = CHOICES[field]
    return Piece(field, (len(values),), 0, 1, f"{meaning}, one-hot: {', '.join(values)}")


def _number(name: str, shape: tuple[int, ...], meaning: str) -> Piece:
    """Return the piece of numbers that may be large."""
    meaning += f", in units, as three digits in base {1 << DIGIT_BITS}"
    return Piece(name, (*shape, DIGITS), -128, LARGEST, meaning)


# The rules by which the game is played.
_RULES_PIECES = (
    Piece("players", (SEATS - 1,), 0, 1, "the number of players, one-hot: 2, 3, 4 or 5"),
    Piece("teams", (1,), 0, 1, "1 if four play as partners"),
    _one_of("spinners", "which doubles spin"),
    Piece("draw_optional", (1,), 0, 1, "1 if drawing is a choice"),
    Piece("reserve", (1,), 0, 2, "tiles of the boneyard that may never be drawn"),
    _one_of("hand_end", "hand-end scoring"),
    _one_of("round_per", "what is rounded by itself"),
    Piece("block_difference", (1,), 0, 1, "1 if a blocked hand pays the difference"),
    Piece("leader_rotates", (1,), 0, 1, "1 if the seat after the last leader leads"),
    Piece("lead_highest_double", (1,), 0, 1, "1 if the highest double leads, not the lot"),
    Piece("unit", (1,), 1, MAX_MULTIPLE, "points for each `multiple` in the total"),
    Piece("immediate", (1,), 0, 1, "1 if the game ends at once when the target is reached"),
    Piece("exact_target", (1,), 0, 1, "1 if the target must be hit exactly"),
    Piece("multiple", (1,), 2, MAX_MULTIPLE, "a total scores if it is a multiple of this"),
    Piece("max_pip", (1,), 1, PIP_COUNT - 1, "the highest pip of the set"),
    Piece("hand_size", (1,), 1, TILE_COUNT // 2, "tiles dealt to each hand"),
    _number("target", (), "the target"),
)
FLAT_PIECES = (
    Piece("hand", (TILE_COUNT,), 0, 1, "the tiles in the observer's hand"),
    Piece("played", (SEATS, TILE_COUNT), 0, 1, "the tiles that each seat has set in this hand"),
    Piece("plain_ends", (PIP_COUNT,), 0, PIP_COUNT, "how many plain ends show each pip"),
    Piece(
        "doubles",
        (PIP_COUNT, 6),
        0,
        1,
        "the state of each pip's double, one-hot: not played, two sides free, one side free, "
        "two cross ends free, one cross end free, closed",
    ),
    Piece("spinner", (PIP_COUNT,), 0, 1, "the pip of the first double played, one-hot"),
    Piece("total", (1,), 0, LARGEST, f"the total of all open ends, capped at {LARGEST}"),
    Piece("total_modulo", (MAX_MULTIPLE,), 0, 1, "the total modulo `multiple`, one-hot"),
    Piece("sizes", (SEATS,), 0, TILE_COUNT, "tiles in each hand"),
    Piece("boneyard", (1,), 0, TILE_COUNT, "tiles in the boneyard"),
    Piece("drawable", (1,), 0, TILE_COUNT, "how many of them may be drawn"),
    Piece("draws", (SEATS,), 0, MAX_DRAWS, "tiles that each seat has drawn in this hand"),
    Piece("lacks", (SEATS, PIP_COUNT), 0, 1, "1 if the seat was shown to lack the pip"),
    Piece("lacks_age", (SEATS, PIP_COUNT), 0, TILE_COUNT, "tiles set by any seat since then"),
    Piece("lacks_draws", (SEATS, PIP_COUNT), 0, MAX_DRAWS, "tiles drawn by the seat since then"),
    Piece("turn", (SEATS,), 0, 1, "the seat to move, one-hot; all 0 after the end of a hand"),
    Piece("lead", (SEATS,), 0, 1, "the seat that led this hand, one-hot"),
    Piece("passes", (1,), 0, SEATS, "how many seats have passed in a row"),
    _number("to_go", (SEATS,), "the target minus the score of the seat's side"),
    Piece(
        "forced_lead",
        (TILE_COUNT,),
        0,
        1,
        "the tile that had to be led, one-hot; all 0 if the leader chose it",
    ),
    *_RULES_PIECES,
    Piece(
        "plays",
        (ACTION_COUNT,),
        0,
        LARGEST,
        "for every action: 0 if it is illegal, else 1 + what the total would score, in units",
        usual=1 + USUAL_POINTS,
    ),
)
FLAT_SIZE = sum(piece.size for piece in FLAT_PIECES)

_STARTS = {piece.name: start for piece, start in offsets(FLAT_PIECES)}
_HAND, _PLAYED, _PLAIN, _DOUBLES = (_STARTS[n] for n in ("hand", "played", "plain_ends", "doubles"))
_SPINNER, _TOTAL, _MODULO = (_STARTS[name] for name in ("spinner", "total", "total_modulo"))
_SIZES, _BONEYARD, _DRAWABLE = (_STARTS[name] for name in ("sizes", "boneyard", "drawable"))
_DRAWS, _LACKS, _AGE, _SINCE = (_STARTS[n] for n in ("draws", "lacks", "lacks_age", "lacks_draws"))
_TURN, _LEAD, _PASSES, _TO_GO = (_STARTS[name] for name in ("turn", "lead", "passes", "to_go"))
_FORCED = _STARTS["forced_lead"]
MODULO = np.array(
    [[total % max(1, m) for total in range(MAX_TOTAL + 1)] for m in range(MAX_MULTIPLE + 1)],
    np.int8,
)


class Flat(CompiledEncoder):
    """Everything that a player can know, with seats counted from the observer.

    The shape is the same for any number of players: absent seats are zero. Partners share a score.
    """

    name, version, pieces = "flat", 1, FLAT_PIECES

    def encode_unchecked(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        write_rows(views, rows)


@inlined
def write_flat(view: Struct, rows: Array, r: int, at: int) -> None:
    """Write all pieces of `flat` into row r, from column `at` on."""
    public, rules, layout = view.public, view.public.rules, view.public.layout
    for entry in range(FLAT_SIZE):
        rows[r, at + entry] = 0
    _write_layout(view, rows, r, at)
    seat = signed(view.seat)
    for k in range(rules.players):
        rows[r, at + _SIZES + k] = public.sizes[seat]
        rows[r, at + _DRAWS + k] = public.draws[seat]
        to_go = _in_units(rules, rules.target - public.scores[side_of(rules, seat)])
        _write_number(rows, r, at + _TO_GO + DIGITS * k, to_go)
        if public.lacked[seat]:
            _write_lacks(public, rows, r, at, seat, k)
        seat = next_seat(rules, seat)
    rows[r, at + _TURN + seats_on(view, public.turn)] = public.phase == PLAYING
    rows[r, at + _LEAD + seats_on(view, public.lead)] = 1
    rows[r, at + _BONEYARD] = public.boneyard - public.drawn
    rows[r, at + _DRAWABLE] = drawable(public)
    rows[r, at + _PASSES] = public.passes
    rows[r, at + _TOTAL] = min(LARGEST, layout.total)
    rows[r, at + _MODULO + MODULO[rules.multiple, layout.total]] = 1
    if public.forced_lead >= 0:
        rows[r, at + _FORCED + public.forced_lead] = 1
    at = _write_rules(rules, rows, r, at + _FORCED + TILE_COUNT)
    if public.phase == PLAYING and public.turn == view.seat:
        _write_plays(view, rows, r, at)


@inlined
def _write_layout(view: Struct, rows: Array, r: int, at: int) -> None:
    public, layout = view.public, view.public.layout
    hand = view.hand
    while hand:
        rows[r, at + _HAND + signed(lowest_bit(hand))] = 1
        hand &= hand - ONE
    for ply in range(public.plies):
        k = seats_on(view, public.play_seat[ply])
        rows[r, at + _PLAYED + TILE_COUNT * k + ACTION_TILE[public.play_action[ply]]] = 1
    for pip in range(PIP_COUNT):
        rows[r, at + _PLAIN + pip] = layout.plain[pip]
        rows[r, at + _DOUBLES + 6 * pip + layout.double[pip]] = 1
    if layout.spinner >= 0:
        rows[r, at + _SPINNER + layout.spinner] = 1


@inlined
def seats_on(view: Struct, seat: int) -> int:
    """Return the number of places that a seat comes after the observer."""
    k = seat - view.seat
    return k + view.public.rules.players if k < 0 else k


@inlined
def _in_units(rules: Struct, points: int) -> int:
    """Return the least number of units that make up these points."""
    return points if rules.unit == 1 else (points + rules.unit - 1) // rules.unit


@inlined
def _write_lacks(public: Struct, rows: Array, r: int, at: int, seat: int, k: int) -> None:
    """Write the numbers that a seat lacks, in the place of the k-th seat from the observer."""
    for pip in range(PIP_COUNT):
        shown = public.lack_ply[seat, pip] >= 0
        rows[r, at + _LACKS + PIP_COUNT * k + pip] = shown
        rows[r, at + _AGE + PIP_COUNT * k + pip] = shown * (
            public.plies - public.lack_ply[seat, pip]
        )
        since = public.draws[seat] - public.lack_draws[seat, pip]
        rows[r, at + _SINCE + PIP_COUNT * k + pip] = shown * since


@inlined
def _write_number(rows: Array, r: int, at: int, number: int) -> int:
    """Write the digits of a number, the highest first, and return the column after them."""
    for place in range(DIGITS - 1, 0, -1):
        rows[r, at + place] = number & ((1 << DIGIT_BITS) - 1)
        number >>= DIGIT_BITS
    rows[r, at] = max(-128, min(LARGEST, number))
    return at + DIGITS


@inlined
def _write_plays(view: Struct, rows: Array, r: int, at: int) -> None:
    """Mark the legal actions, then add what each would score."""
    public, layout = view.public, view.public.layout
    mark_legal(public, view.hand, rows, r, at)
    fives = public.rules.multiple
    if public.plies == 0:
        for tile in range(TILE_COUNT):
            rows[r, at + tile] *= 1 + FIVES[fives, TILE_PIPS[tile]]
        return
    fits = playable(layout, view.hand)
    doubles = fits & ALL_DOUBLES
    while doubles:
        action = signed(FIRST_WAY[lowest_bit(doubles)])
        doubles &= doubles - ONE
        rows[r, at + action] += FIVES[fives, total_after(layout, action)]
    others = fits & ~ALL_DOUBLES
    while others:
        tile = lowest_bit(others)
        others &= others - ONE
        way, low, high = at + FIRST_WAY[tile], TILE_LOW[tile], TILE_HIGH[tile]
        on_low, on_high = layout.total + high, layout.total + low
        rows[r, way] *= 1 + FIVES[fives, on_low - low]
        rows[r, way + 1] *= 1 + FIVES[fives, on_low - double_loses(layout, low)]
        rows[r, way + 2] *= 1 + FIVES[fives, on_high - high]
        rows[r, way + 3] *= 1 + FIVES[fives, on_high - double_loses(layout, high)]


@inlined
def _write_rules(rules: Struct, rows: Array, r: int, at: int) -> int:
    """Write the rules, and return the column after them."""
    rows[r, at + rules.players - MIN_PLAYERS] = 1
    rows[r, at + 4] = rules.sides < rules.players
    rows[r, at + 5 + rules.spinners] = 1
    rows[r, at + 8] = rules.draw
    rows[r, at + 9] = rules.reserve
    rows[r, at + 10 + rules.hand_end] = 1
    rows[r, at + 13 + rules.round_per] = 1
    rows[r, at + 16] = rules.block_pays
    rows[r, at + 17] = rules.leader
    rows[r, at + 18] = rules.lead_tile
    rows[r, at + 19] = rules.unit
    rows[r, at + 20] = rules.game_end
    rows[r, at + 21] = rules.exact_target
    rows[r, at + 22] = rules.multiple
    rows[r, at + 23] = rules.max_pip
    rows[r, at + 24] = rules.hand_size
    return _write_number(rows, r, at + 25, _in_units(rules, rules.target))


@compiled
def write_rows(views: Views, rows: Int8Rows) -> None:
    """Write a row for each view."""
    for r in range(len(views)):
        write_flat(views[r], rows, r, 0)
