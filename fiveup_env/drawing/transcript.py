"""Games as text for people: the table as it stands, or a whole game from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fiveup_env.drawing.text import layout_text
from fiveup_env.drawing.words import hand_end, move_text, outcome_line, score_line, tile_names
from fiveup_env.game.records import record_of
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import FIELDS

if TYPE_CHECKING:
    import numpy as np

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game


def table_text(game: Game) -> str:
    """Return the table as it stands: the layout, every hand, the boneyard and the scores."""
    hands = [
        f"seat {seat}{' *' if seat == game.turn else '  '} {tile_names(game.hand_of(seat))}"
        for seat in range(game.rules.players)
    ]
    counts = f"boneyard {game.boneyard_count}, hand {game.hand_number}"
    layout = layout_text(game.plays, game.rules.spinners)
    return "\n".join([layout, *hands, f"{counts}, scores {score_line(game.scores)}"])


def transcript(game: Game, *, unicode: bool = True) -> str:
    """Return the whole game: its rules, then the deal, moves, end and last layout of every hand."""
    record = record_of(game)
    rules = record["rules"]
    partners = " as partners" if record["teams"] else ""
    lines = [
        f"{rules['preset'] or 'custom rules'}, {record['players']} players{partners}",
        ", ".join(f"{name} {rules[name]}" for name in FIELDS),
    ]
    for number, hand in enumerate(record["hands"]):
        picture = _picture(game.hand_states()[number], rules["spinners"], unicode=unicode)
        lines += ["", *_hand(hand, number), "", *(f"  {line}".rstrip() for line in picture)]
    return "\n".join([*lines, "", outcome_line(game)])


def _picture(state: np.ndarray, spinners: str, *, unicode: bool) -> list[str]:
    public = state[0]["public"]
    plays = [MOVES[action] for action in public["play_action"][: public["plies"]]]
    return layout_text(plays, spinners, unicode=unicode).splitlines()


def _hand(hand: Json, number: int) -> list[str]:
    lines = [
        f"Hand {number}: seat {hand['lead']} leads, scores {score_line(hand['scores_before'])}"
    ]
    lines += [f"  seat {seat} holds {tile_names(tiles)}" for seat, tiles in enumerate(hand["deal"])]
    lines.append(f"  boneyard {tile_names(hand['boneyard'])}")
    lines += [
        f"  {count:>3}  seat {move['player']} {move_text(move)}"
        for count, move in enumerate(hand["moves"])
    ]
    lines.append(f"  {hand_end(hand)}; scores {score_line(hand['scores_after'])}")
    return lines
