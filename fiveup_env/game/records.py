"""Game records: games written as JSON, read back, and checked against the rules.

RULES.md describes the format. Reading a record plays the game again and compares everything that
is written with what the rules give; the error names the hand and move of the first difference.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.legality import mark_legal_at
from fiveup_env.errors import (
    DealError,
    FiveUpError,
    IllegalMoveError,
    InvalidMoveError,
    RecordError,
    SeedError,
    TileError,
    shown,
    unknown,
)
from fiveup_env.files import Json, file_path
from fiveup_env.game.game import Game
from fiveup_env.game.proof import check_proof
from fiveup_env.game.values import ENDINGS, Deal, Step
from fiveup_env.rules.actions import ACTION_COUNT, DRAW, MOVES, PASS, Move
from fiveup_env.rules.fields import FIELDS, Rules
from fiveup_env.rules.tiles import TILES, Tile, mask_of, tiles_in
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

FORMAT = "fiveup-record"
VERSION = 1
STUDY_FORMAT = "fiveup-study"  # a file of the table, which holds the record of its game

SETTLED = ("domino", "blocked")  # the ends of a hand that score points

# --- Writing


def record_of(game: Game, *, legal: bool = False) -> Json:
    """Return the record of a game, ready for JSON.

    It tells all: every hand that has been dealt, and by `seed` and `deals` those that will be. What
    one seat may know of a game in progress is `view_line(game.view(seat))`.

    Args:
        game: The game, finished or not.
        legal: Whether each play lists the legal plays.
    """
    outcome = game.outcome()
    plays: list[list[Step]] = [[] for _ in game.hand_states()]
    for step in game.steps():
        if step.move.tile is not None:
            plays[step.before[0]["public"]["hand_number"]].append(step)
    hands = [
        _hand(game.rules, state, steps, legal=legal)
        for state, steps in zip(game.hand_states(), plays, strict=True)
    ]
    if not (hands[-1]["moves"] or "draws" in hands[-1]):
        hands.pop()  # nobody has moved in it: the seed deals it again
    ahead = game.deals[len(hands) :]
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": {"preset": game.rules.name, **game.rules.fields()},
        "players": game.rules.players,
        "teams": game.rules.teams,
        "seed": str(game.seed),
        "complete": outcome is not None,
        "winner": outcome.winner if outcome else None,
        "hands": hands,
        **({"deals": [_deal(deal) for deal in ahead]} if ahead else {}),
    }


def dumps(game: Game, *, legal: bool = False) -> str:
    """Return the record of a game as one line of JSON."""
    return json.dumps(record_of(game, legal=legal))


def tile_name(tile: Tile) -> str:
    """Return the name of a tile in records, its lower half first: `3-5`."""
    return f"{tile.low}-{tile.high}"


def _hand(rules: Rules, state: np.ndarray, plays: list[Step], *, legal: bool) -> Json:
    """Return the record of one hand, from its final or current state and its plays."""
    public = state[0]["public"]
    moves: list[Json] = []
    begun: Json = {}  # the turn that is not over
    seat = int(public["lead"])
    for step in plays:
        moves += _passes(rules, step.before, seat, (step.seat - seat) % rules.players)
        moves.append(_play(step, legal=legal))
        seat = (step.seat + 1) % rules.players
    ended = ENDINGS[public["ended"]]
    if ended == "blocked":
        moves += _passes(rules, state, seat, rules.players)
    elif ended is None:
        moves += _passes(rules, state, seat, (int(public["turn"]) - seat) % rules.players)
        if draws := _draws(state, int(public["turn"])) if rules.draw == "optional" else ():
            begun = {"draws": draws}
    boneyard = [TILES[tile] for tile in state["order"][0, : public["boneyard"]]]
    return {
        **_deal(Deal(dealt_hands(rules, state), boneyard, int(public["lead"]))),
        "scores_before": _by_side(rules, plays[0].before if plays else state, "scores"),
        "moves": moves,
        **begun,
        "ended": ended,
        "end_points": _by_side(rules, state, "end_points") if ended in SETTLED else None,
        "scores_after": _by_side(rules, state, "scores"),
    }


def _deal(deal: Deal) -> Json:
    return {
        "lead": deal.lead,
        "deal": [[tile_name(Tile.parse(tile)) for tile in hand] for hand in deal.hands],
        "boneyard": [tile_name(Tile.parse(tile)) for tile in deal.boneyard],
    }


def dealt_hands(rules: Rules, state: np.ndarray) -> list[list[Tile]]:
    """Return the hands as they were dealt, from an array of one GAME struct later in the hand."""
    public = state[0]["public"]
    hands = state["hands"][0, : rules.players].tolist()
    for k in range(public["plies"]):
        tile = MOVES[public["play_action"][k]].tile
        hands[public["play_seat"][k]] |= mask_of([tile] if tile else [])
    for k in range(public["drawn"]):
        hands[public["draw_seat"][k]] &= ~(1 << int(state["order"][0, k]))
    return [list(tiles_in(hand)) for hand in hands]


def _play(step: Step, *, legal: bool) -> Json:
    """Return the entry of a play in the list of moves."""
    entry = {
        "player": step.seat,
        "draws": _draws(step.before, step.seat),
        **_where(step.move),
        "total": step.total,
        "points": step.points,
    }
    if legal:
        mask = np.zeros((1, ACTION_COUNT), np.int8)
        mark_legal_at(step.before, 0, mask)
        entry["legal"] = [_where(MOVES[action]) for action in mask[0, :DRAW].nonzero()[0]]
    return entry


def _where(move: Move) -> Json:
    assert move.tile is not None
    on = None if move.pip is None else {"pip": move.pip, "end": move.end}
    return {"play": tile_name(move.tile), "on": on}


def _passes(rules: Rules, state: np.ndarray, first: int, count: int) -> list[Json]:
    """Return the entries of `count` passes in a row, starting with seat `first`."""
    seats = [(first + k) % rules.players for k in range(count)]
    return [{"player": seat, "draws": _draws(state, seat), "play": None} for seat in seats]


def _draws(state: np.ndarray, seat: int) -> list[str]:
    """Return the tiles that a seat has drawn since the last tile was set."""
    public = state[0]["public"]
    return _names(
        state,
        [
            k
            for k in range(public["drawn"])
            if public["draw_seat"][k] == seat and public["draw_ply"][k] == public["plies"]
        ],
    )


def _names(state: np.ndarray, places: Iterable[int]) -> list[str]:
    return [tile_name(TILES[state["order"][0, k]]) for k in places]


def _by_side(rules: Rules, state: np.ndarray, field: str) -> list[int]:
    return state[0]["public"][field][: rules.sides].tolist()


# --- Reading


@dataclass(frozen=True)
class Line:
    """One line of a file of records, numbered from 1: its game, or the error in it."""

    number: int
    game: Game | None
    error: str | None
    digests: tuple[str, ...] = ()  # that were shown before the game, if its deal is proved


def read_file(path: str | os.PathLike[str]) -> Iterator[Line]:
    """Yield every line of a file of records, checked; a damaged one does not hide the others.

    Blank lines are counted, but not yielded.
    """
    with file_path(path).open("rb") as file:
        for number, content in enumerate(file, 1):
            if not content.strip():
                continue
            try:
                record = _parsed(content)
                yield Line(number, game_of(record), None, digests_in(record))
            except RecordError as error:
                yield Line(number, None, f"line {number}: {error}")


def loads(text: str | bytes) -> Game:
    """Return the game recorded in a line of JSON.

    Raises:
        RecordError: If it is damaged, or breaks the rules; it names the hand and the move.

    >>> game = Game(players=2, seed=7)
    >>> move = game.push("0-0")
    >>> loads(dumps(game)) == game
    True
    """
    return game_of(_parsed(text))


def _parsed(text: str | bytes) -> Any:
    try:
        return parse_json(text)
    except (TypeError, ValueError) as error:
        raise RecordError(f"not valid JSON: {error}") from None


def _record_in(content: Any) -> Any:
    """Return the record that a file of the table holds, or else the content itself."""
    is_study = isinstance(content, dict) and content.get("format") == STUDY_FORMAT
    return content.get("record") if is_study else content


def digests_in(content: Any) -> tuple[str, ...]:
    """Return the digests that a valid record proves its deal by."""
    return tuple(_record_in(content).get("proof", {}).get("digests", ()))


def game_of(record: Any) -> Game:
    """Return the game that a record describes; raise RecordError if it breaks the rules.

    A file of the table, which holds a record, will do.
    """
    record = _record_in(record)
    if _field(record, "format", str, "the record") != FORMAT:
        raise RecordError(f"the format must be {FORMAT!r}")
    version = _field(record, "version", int, "the record")
    if version != VERSION:
        raise RecordError(f"the version must be {VERSION}, not {shown(version)}")
    rules = _rules_of(_field(record, "rules", dict, "the record"), record)
    hands = _field(record, "hands", list, "the record")
    ahead = _field(record, "deals", list, "the record") if "deals" in record else []
    deals = [_deal_of(hand, rules, f"hand {number}") for number, hand in enumerate(hands + ahead)]
    game = Game(rules, deals=deals, seed=_seed_of(record))
    for number, hand in enumerate(hands):
        _replay(game, hand, number)
    right = record_of(game)
    written = {name: value for name, value in record.items() if name != "proof"}
    _compare({"seed": right["seed"], **written}, right, ())
    if "proof" in record:
        check_proof(record["proof"], game)
    return game


def _seed_of(record: Json) -> int:
    """Return the seed of the hands that a record does not hold; it may be left out."""
    text = _field(record, "seed", str, "the record") if "seed" in record else "0"
    try:
        return checked_seed(int(text) if re.fullmatch("[0-9]{1,20}", text) else text)
    except SeedError as error:
        raise RecordError(f"the record: {error}, as text") from None


def _rules_of(fields: Json, record: object) -> Rules:
    players = _field(record, "players", int, "the record")
    teams = _field(record, "teams", bool, "the record")
    preset = _field(fields, "preset", (str, NoneType), "rules")
    own = {name: value for name, value in fields.items() if name != "preset"}
    for name in own:
        if name not in FIELDS:
            raise RecordError(unknown("rule field", name, FIELDS))
    missing = [name for name in FIELDS if name not in own]
    if missing:
        raise RecordError(f"the rules lack {', '.join(missing)}")
    try:
        rules = Rules(players=players, teams=teams, **own)
    except FiveUpError as error:
        raise RecordError(str(error)) from None
    if preset not in {None, rules.name}:
        raise RecordError(f"the rules are not those of the preset {preset!r}")
    return rules


def _deal_of(hand: object, rules: Rules, where: str) -> Deal:
    hands = _field(hand, "deal", list, where)
    for tiles in hands:
        if not isinstance(tiles, list):
            raise RecordError(f"{where}: every hand of the deal must be a list, not {shown(tiles)}")
    deal = Deal(hands, _field(hand, "boneyard", list, where), _field(hand, "lead", int, where))
    try:
        return deal.checked(rules)
    except DealError as error:
        raise RecordError(f"{where}: {error}") from None


def _replay(game: Game, hand: Json, number: int) -> None:
    """Make the moves of a recorded hand; the game deals the next one when they end it."""
    if game.outcome():
        raise RecordError(f"hand {number}: the game ended before it")
    if game.hand_number != number:
        raise RecordError(f"hand {number}: the hand before it did not end")
    for count, entry in enumerate(_field(hand, "moves", list, f"hand {number}")):
        where = f"hand {number}, move {count}"
        tile = _field(entry, "play", (str, NoneType), where)
        if tile is None and game.rules.draw == "until_playable":
            continue  # a forced pass: the game has made it already
        if game.outcome() or game.hand_number != number:
            raise RecordError(f"{where}: the hand had already ended")
        try:
            _make(game, entry, where)
        except (InvalidMoveError, IllegalMoveError, TileError) as error:
            raise RecordError(f"{where}: {error}") from None
    try:
        _draw(game, hand, f"hand {number}")
    except IllegalMoveError as error:
        raise RecordError(f"hand {number}: {error}") from None


def _make(game: Game, entry: Json, where: str) -> None:
    """Make one recorded move, after its draws if drawing is a choice."""
    seat = _field(entry, "player", int, where)
    if seat != game.turn:
        raise RecordError(f"{where}: seat {game.turn} is to move, not seat {shown(seat)}")
    _field(entry, "draws", list, where)
    _draw(game, entry, where)
    if "legal" in entry:
        _check_legal(game, _field(entry, "legal", list, where), where)
    game.push(Move(PASS) if entry["play"] is None else _move_of(entry, where))


def _draw(game: Game, entry: Json, where: str) -> None:
    """Make the draws of a turn, if drawing is a choice."""
    if game.rules.draw == "optional" and "draws" in entry:
        for _ in _field(entry, "draws", list, where):
            game.push(Move(DRAW))


def _move_of(entry: Json, where: str) -> Move:
    tile = Tile.parse(_field(entry, "play", str, where))
    on = _field(entry, "on", (dict, NoneType), where)
    if on is None:
        return Move.of(tile)
    return Move.of(tile, _field(on, "pip", int, where), _field(on, "end", str, where))


def _check_legal(game: Game, written: list[Json], where: str) -> None:
    allowed = {move for move in game.legal_moves if move.tile is not None}
    if {_move_of(play, where) for play in written} != allowed or len(written) != len(allowed):
        raise RecordError(
            f"{where}: 'legal' must list exactly the legal plays; allowed: {game.legal_moves}"
        )


def _field(place: object, name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """Return a field of a JSON object; raise RecordError if it is missing or of another type."""
    if not isinstance(place, dict):
        raise RecordError(f"{where} must be a JSON object, not {shown(place)}")
    if name not in place:
        raise RecordError(f"{where}: {name!r} is missing")
    value = place[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise RecordError(f"{where}: {name!r} cannot be {shown(value, json.dumps)}")
    return value


# The fields that define the game, or that have been checked already.
_GIVEN = frozenset({"preset", "deal", "boneyard", "legal"})
_SINGULAR = {"hands": "hand", "moves": "move"}


def _compare(written: Any, right: Any, path: tuple[str | int, ...]) -> None:
    """Raise RecordError at the first place where a record differs from what the rules give."""
    if isinstance(written, dict) and isinstance(right, dict):
        for name in [*right, *written]:
            if name in _GIVEN:
                continue
            if name not in written:
                _refuse(path, f"{name!r} is missing")
            if name not in right:
                _refuse(path, f"{shown(name)} does not belong here")
            _compare(written[name], right[name], (*path, name))
    elif isinstance(written, list) and isinstance(right, list):
        for number, pair in enumerate(zip(written, right, strict=False)):
            _compare(*pair, (*path, number))
        if len(written) != len(right):
            _refuse(path, f"its length is {len(written)}, but the rules give {len(right)}")
    elif not _same(written, right):
        given, wanted = (shown(value, json.dumps) for value in (written, right))
        _refuse(path, f"{given} is written, but the rules give {wanted}")


def _same(written: object, right: object) -> bool:
    """Return whether two plain values are equal; the halves of a tile may be in either order."""
    if isinstance(written, str) and isinstance(right, str) and written != right:
        with suppress(TileError):
            return Tile.parse(written) == Tile.parse(right)
    return type(written) is type(right) and written == right


def _refuse(path: tuple[str | int, ...], what: str) -> NoReturn:
    """Raise RecordError with the place in front: `hand 2, move 5, total: ...`."""
    words: list[str] = []
    for step in path:
        if isinstance(step, int):
            words[-1] = f"{_SINGULAR.get(words[-1], words[-1])} {step}"
        else:
            words.append(step)
    raise RecordError(f"{', '.join(words) or 'the record'}: {what}")
