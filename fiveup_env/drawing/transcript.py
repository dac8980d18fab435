"""Games as text for people: the table as it stands, or a whole game from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fiveup_env.drawing.snapshot import hand_end_of
from fiveup_env.drawing.text import layout_text
from fiveup_env.drawing.words import (
    ENDED,
    hand_end,
    move_text,
    outcome_line,
    score_line,
    tile_names,
)
from fiveup_env.game.records import record_of
from fiveup_env.game.values import plays_of
from fiveup_env.rules.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game


def table_text(
    game: Game,
    *,
    hands: Collection[int] | None = None,
    finished: bool = False,
    unicode: bool = True,
) -> str:
    """Return the table as it stands: the layout, the hands, the boneyard and the scores.

    `hands` are the seats whose tiles are named; of the others they are counted (None: of none).
    With `finished`, it is the hand that ended last, before the next one was dealt.
    """
    last = game.last_hand() if finished and not game.is_game_over() else None
    if last:
        plays, boneyard = hand_end_of(game)
        left, turn, number, scores = last.left, None, game.hand_number - 1, last.scores
    else:
        plays, boneyard, turn, scores = game.plays, game.boneyard_count, game.turn, game.scores
        left, number = tuple(map(game.hand_of, range(game.rules.players))), game.hand_number
    lines = []
    for seat, tiles in enumerate(left):
        count = f"{len(tiles)} tile{'' if len(tiles) == 1 else 's'}"
        held = tile_names(tiles) if hands is None or seat in hands else count
        lines.append(f"seat {seat}{' *' if seat == turn else '  '} {held}")
    over = f", {ENDED[last.ended]}" if last else ""
    counts = f"boneyard {boneyard}, hand {number}{over}, scores {score_line(scores)}"
    return "\n".join([layout_text(plays, game.rules.spinners, unicode=unicode), *lines, counts])


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
    return layout_text(plays_of(state[0]["public"]), spinners, unicode=unicode).splitlines()


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
