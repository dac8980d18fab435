"""Games as text for people: the table as it stands, and a whole game from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fiveup_env.actions import MOVES
from fiveup_env.drawing.text import layout_text
from fiveup_env.records import Json, record_of
from fiveup_env.rules import FIELDS
from fiveup_env.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from fiveup_env.game import Game

ENDED = {None: "unfinished", "domino": "dominoed", "blocked": "blocked", "target": "at the target"}


def table_text(game: Game) -> str:
    """The table as it stands: the layout, every hand, the boneyard and the scores."""
    hands = [
        f"seat {seat}{' *' if seat == game.turn else '  '} {_tiles(game.hand_of(seat))}"
        for seat in range(game.rules.players)
    ]
    counts = f"boneyard {game.boneyard_count}, hand {game.hand_number}"
    layout = layout_text(game.plays, game.rules.spinners)
    return "\n".join([layout, *hands, f"{counts}, scores {_scores(game.scores)}"])


def transcript(game: Game, *, unicode: bool = True) -> str:
    """The whole game: the rules, then every hand with its deal, moves, end and last layout."""
    record = record_of(game)
    rules = record["rules"]
    partners = " as partners" if record["teams"] else ""
    lines = [
        f"{rules['preset'] or 'own rules'}, {record['players']} players{partners}",
        ", ".join(f"{name} {rules[name]}" for name in FIELDS),
    ]
    for number, hand in enumerate(record["hands"]):
        picture = _picture(game.hand_states[number], rules["spinners"], unicode=unicode)
        lines += ["", *_hand(hand, number), "", *(f"  {line}".rstrip() for line in picture)]
    return "\n".join([*lines, "", _outcome(game)])


def _picture(state: np.ndarray, spinners: str, *, unicode: bool) -> list[str]:
    table = state[0]["table"]
    plays = [MOVES[action] for action in table["play_action"][: table["plies"]]]
    return layout_text(plays, spinners, unicode=unicode).splitlines()


def _hand(hand: Json, number: int) -> list[str]:
    lines = [f"Hand {number}: seat {hand['lead']} leads, scores {_scores(hand['scores_before'])}"]
    lines += [f"  seat {seat} holds {_tiles(tiles)}" for seat, tiles in enumerate(hand["deal"])]
    lines.append(f"  boneyard {_tiles(hand['boneyard'])}")
    lines += [
        f"  {count:>3}  seat {move['player']} {_deed(move)}"
        for count, move in enumerate(hand["moves"])
    ]
    brought = f", which brings {_scores(hand['end_points'])}" if hand["end_points"] else ""
    lines.append(f"  {ENDED[hand['ended']]}{brought}: scores {_scores(hand['scores_after'])}")
    return lines


def _deed(move: Json) -> str:
    drew = f"draws {_tiles(move['draws'])}, " if move["draws"] else ""
    if move["play"] is None:
        return f"{drew}passes"
    on = move["on"]
    where = f" on the {on['pip']}{' double' if on['end'] == 'double' else ''}" if on else ""
    gain = f", {move['points']:+d}" if move["points"] else ""
    return f"{drew}sets {_tiles([move['play']])}{where}: total {move['total']}{gain}"


def _outcome(game: Game) -> str:
    outcome = game.outcome()
    if outcome is None:
        return f"Not finished; scores {_scores(game.scores)}"
    seats = " and ".join(map(str, outcome.seats))
    return f"Side {outcome.winner} (seats {seats}) wins, {_scores(outcome.scores)}"


def _tiles(names: Iterable[Tile | str]) -> str:
    return " ".join(str(Tile.parse(name)) for name in names) or "nothing"


def _scores(scores: Iterable[int]) -> str:
    return " : ".join(map(str, scores))
