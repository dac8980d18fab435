"""A position and its moves in plain words, from what one seat may know.

Nothing in them needs the rules' names; `rules_words` says the rules in the same words.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.engine.state import BLOCKED, DOMINO, NOBODY, NOT_ENDED, VIEW
from fiveup_env.engine.view import as_view, legal_masks, observe_at
from fiveup_env.errors import InvalidMoveError, TileError, shown
from fiveup_env.game.facts import HIDDEN, Event, Facts, facts_of, with_passes
from fiveup_env.game.rules_words import number_of
from fiveup_env.game.values import Layout
from fiveup_env.rules.actions import DRAW, MOVES, PASS, Move
from fiveup_env.rules.tiles import TILES, Tile, tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.game.values import Step

_WORDS: Final = re.compile(
    r"(?:lead (?P<led>[0-6]-[0-6])"
    r"|set (?P<tile>[0-6]-[0-6]) on (?:the |a )?(?P<double>double )?(?P<pip>[0-6])"
    r"|(?P<draw>draw(?: a tile)?)|(?P<pass>pass))\.?",
    re.IGNORECASE,
)


def move_words(move: Move) -> str:
    """Return a move in words: `lead 5-3`, `set 5-3 on the double 5`, `draw a tile`, `pass`.

    >>> move_words(Move.parse("5-3@5x"))
    'set 5-3 on the double 5'
    """
    if move.tile is None:
        return "draw a tile" if move.action == DRAW else "pass"
    if move.pip is None:
        return f"lead {move.tile}"
    return f"set {move.tile} on the {'double ' if move.end == 'double' else ''}{move.pip}"


def move_of_words(text: object) -> Move:
    """Return the move that a text says, in words or as moves are written; raise InvalidMoveError.

    >>> move_of_words("Set 3-5 on the double 5.")
    Move.parse('5-3@5x')
    """
    if isinstance(text, str):
        given = " ".join(text.split())
        with suppress(InvalidMoveError):
            return Move.parse(given)
        with suppress(InvalidMoveError, TileError):
            if match := _WORDS.fullmatch(given):
                return _matched(match)
    raise InvalidMoveError(
        f"{shown(text)} is not a move; a move is 'lead 5-3', 'set 5-3 on the 5', 'set 5-3 on the "
        "double 5', 'draw a tile' or 'pass', or in short 5-3, 5-3@5, 5-3@5x, draw or pass"
    )


def _matched(match: re.Match[str]) -> Move:
    if match["draw"]:
        return Move(DRAW)
    if match["pass"]:
        return Move(PASS)
    if match["led"]:
        return Move.of(Tile.parse(match["led"]))
    end = "double" if match["double"] else "plain"
    return Move.of(Tile.parse(match["tile"]), int(match["pip"]), end)


def view_text(view: np.ndarray, *, moves: bool = True) -> str:
    """Return a view, an array of one VIEW struct, in words.

    Args:
        view: What one seat may know.
        moves: Whether its legal moves are listed, where it is to move.
    """
    view = as_view(view)
    (facts,) = facts_of(view)
    lines = [*_standing(facts), *_history(facts), *_table(facts, view[0]["public"])]
    if moves and facts.turn == facts.seat:
        legal = ", ".join(
            move_words(MOVES[action]) for action in legal_masks(view)[0].nonzero()[0].tolist()
        )
        lines.append(f"Your legal moves: {legal}.")
    return "\n".join(lines)


def history_text(view: np.ndarray) -> str:
    """Return what was done in the hand of a view, in words."""
    (facts,) = facts_of(as_view(view))
    return "\n".join(_history(facts))


def ends_text(view: np.ndarray) -> str:
    """Return the open ends of a view's layout and their total, in words."""
    return _ends(as_view(view)[0]["public"])


def step_text(step: Step, seat: int) -> str:
    """Return a move and its consequences as a seat sees them, in sentences.

    They tell what the move scored, the draws and passes that it forced, and the end of the hand.

    >>> from fiveup_env import Game
    >>> game = Game("five_up", players=2, seed=29)
    >>> game.push("6-4")
    Move.parse('6-4')
    >>> step_text(*game.steps(), seat=1)
    'Seat 0 led 6-4: total 10, 2 points. You drew 6-6.'
    """
    before, after = (_facts_for(seat, state) for state in (step.before, step.after))
    events = list(with_passes(after))[len(list(with_passes(before))) :]
    sentences = [_told(list(same), seat) for _, same in groupby(events, lambda event: event[:2])]
    if step.move.tile is not None:
        gain = f", {number_of(step.points, 'point')}" if step.points else ""
        sentences[0] += f": total {step.total}{gain}"
    return " ".join([*(f"{words}." for words in sentences), *_end(after)])


def _facts_for(seat: int, state: np.ndarray) -> Facts:
    views = np.zeros(1, VIEW)
    observe_at(state, 0, seat, views, 0)
    return next(facts_of(views))


def _told(events: list[Event], viewer: int) -> str:
    """Describe the actions of a seat: one event, or draws in a row."""
    who = "You" if events[0].seat == viewer else f"Seat {events[0].seat}"
    if len(events) == 1:
        return who + _done(events[0]).removeprefix(f"seat {events[0].seat}")
    tiles = ", ".join(str(TILES[event.tile]) for event in events if event.tile != HIDDEN)
    return f"{who} drew {number_of(len(events), 'tile')}{': ' if tiles else ''}{tiles}"


def _standing(facts: Facts) -> Iterator[str]:
    rules, seat = facts.rules, facts.seat
    partner = f", the partner of seat {(seat + 2) % 4}" if rules.teams else ""
    yield f"You are seat {seat} of {rules.players}{partner}. This is hand {facts.hand_number}."
    kind = "side" if rules.teams else "seat"
    scores = ", ".join(f"{kind} {side} has {score}" for side, score in enumerate(facts.scores))
    yield f"Scores: {scores}."
    yield f"Your hand: {', '.join(map(str, tiles_in(facts.hand))) or 'no tiles'}."


def _history(facts: Facts) -> Iterator[str]:
    events = list(with_passes(facts))
    led = any(event.action < DRAW for event in facts.events)
    yield f"Seat {facts.lead} {'led' if led else 'leads'} this hand."
    if facts.forced_lead >= 0:
        yield f"It {'had to' if led else 'must'} lead {TILES[facts.forced_lead]}."
    if events:
        yield f"What was done: {'; '.join(map(_done, events))}."


def _done(event: Event) -> str:
    move = MOVES[event.action]
    if event.action == DRAW:
        tile = "a tile" if event.tile == HIDDEN else str(TILES[event.tile])
        return f"seat {event.seat} drew {tile}"
    if event.action == PASS:
        return f"seat {event.seat} passed"
    words = move_words(move)
    return f"seat {event.seat} {words.replace('lead', 'led', 1) if move.pip is None else words}"


def _ends(public: np.void) -> str:
    layout = Layout.of(public["layout"])
    if not layout.ends:
        led = bool(public["plies"])
        return (
            f"No end is open. The total is {layout.total}." if led else "No tile has been led yet."
        )
    ends = ", ".join(
        f"{'the double ' if end.kind == 'double' else ''}{end.pip} (counts {end.counts})"
        for end in layout.ends
    )
    return f"Open ends: {ends}. The total is {layout.total}."


def _table(facts: Facts, public: np.void) -> Iterator[str]:
    rules = facts.rules
    yield _ends(public)
    sizes, lacked = public["sizes"].tolist(), public["lacked"].tolist()
    others = [seat for seat in range(rules.players) if seat != facts.seat]
    yield " ".join(f"Seat {seat} holds {number_of(sizes[seat], 'tile')}." for seat in others)
    for seat in others:
        pips = [str(pip) for pip in range(rules.max_pip + 1) if lacked[seat] >> pip & 1]
        if pips:
            yield f"Seat {seat} has shown that it had no {' and no '.join(pips)}."
    left = int(public["boneyard"] - public["drawn"])
    drawable = max(0, left - rules.reserve)
    yield f"The boneyard has {number_of(left, 'tile')}, of which {drawable} may be drawn."
    if facts.ended == NOT_ENDED:
        yield (
            "It is your turn."
            if facts.turn == facts.seat
            else f"It is the turn of seat {facts.turn}."
        )
    yield from _end(facts)


def _end(facts: Facts) -> Iterator[str]:
    """Yield how the hand and the game have ended, if they have."""
    if facts.ended == NOT_ENDED:
        return
    kind = "side" if facts.rules.teams else "seat"
    how = {DOMINO: "a player went out", BLOCKED: "it is blocked"}.get(
        facts.ended, "a side has reached the target"
    )
    points = ", ".join(f"{kind} {k} {gain:+d}" for k, gain in enumerate(facts.end_points))
    yield f"The hand is over: {how}. Its end brought {points}."
    if facts.winner != NOBODY:
        yield f"The game is over: {kind} {facts.winner} has won."
