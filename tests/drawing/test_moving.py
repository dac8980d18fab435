"""The moving picture of a hand, what a seat can know, and verdicts, read back from their text."""

from __future__ import annotations

import re
from random import Random
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from fiveup_env import TILES, Game
from fiveup_env.analysis import judge
from fiveup_env.belief import marginals
from fiveup_env.drawing.beliefs import belief_svg
from fiveup_env.drawing.moving import LAST, hand_svg
from fiveup_env.drawing.replay import moments_of
from fiveup_env.errors import InputError, SeatError
from tests.support import play_randomly

NAMESPACE = "{http://www.w3.org/2000/svg}"


def shown(svg: str, moment: int | None, count: int) -> list[str]:
    """Return the tiles on the table at a moment, or where nothing moves."""
    still = dict(re.findall(r"\.(m\d+)\{visibility:(\w+)\}", svg))
    frames = {
        f"m{name}": [
            (float(at), state) for at, state in re.findall(r"([\d.]+)%\{\w+:(\w+)\}", rule)
        ]
        for name, rule in re.findall(r"@keyframes k(\d+)(\{.*?)@media", svg)
    }
    tiles = []
    for group in ET.fromstring(svg).iter(f"{NAMESPACE}g"):  # noqa: S314  (it is our own)
        name = group.attrib["class"]
        names = [g.attrib["data-tile"] for g in group.iter() if g.get("class") == "tile"]
        if not re.fullmatch(r"m\d+", name) or not names:
            continue
        state = still.get(name, "visible")
        if moment is not None and name in frames:
            middle = 100 * (moment + 0.5) / (count - 1 + LAST)
            state = [state for at, state in frames[name] if at <= middle][-1]
        if state == "visible":
            tiles += names
    return sorted(tiles)


def test_the_moving_picture_shows_every_moment_and_stands_still_at_the_end() -> None:
    game = play_randomly(Game("five_up", players=3, seed=5), Random(5), 60)
    for number in (0, 1):
        moments = [snapshot for snapshot, _ in moments_of(game) if snapshot.number == number]
        svg = hand_svg(game, number)
        for k, snapshot in enumerate(moments):
            set_so_far = sorted(str(move.tile) for move in snapshot.plays)
            assert shown(svg, k, len(moments)) == set_so_far
        assert shown(svg, None, len(moments)) == sorted(str(m.tile) for m in moments[-1].plays)


def test_a_hand_in_progress_moves_up_to_its_last_play_and_others_are_refused() -> None:
    game = play_randomly(Game("five_up", players=4, seed=5), Random(5), 6)
    svg = hand_svg(game)
    assert shown(svg, None, 0) == sorted(str(move.tile) for move in game.plays)
    with pytest.raises(InputError, match="hand must be from 0 to 0, not 3"):
        hand_svg(game, 3)
    with pytest.raises(SeatError, match="from 0 to 3, not 4"):
        belief_svg(game, 4)
    for picture in (svg, belief_svg(game)):  # as notebooks show them
        assert picture._repr_svg_() == picture


@pytest.mark.parametrize("players", [2, 5])
def test_the_picture_of_a_belief_has_the_exact_chances(players: int) -> None:
    game = play_randomly(Game("five_up", players=players, seed=4), Random(4), 9)
    root = ET.fromstring(belief_svg(game, 1))  # noqa: S314  (it is our own)
    tiles = [g.attrib["data-tile"] for g in root.iter() if g.get("class") == "tile"]
    chances = [float(g.attrib["data-chance"]) for g in root.iter() if g.get("class") == "chance"]
    exact = marginals(game.view(1))[0]
    held = {str(tile) for tile in game.hand_of(1)} | {str(move.tile) for move in game.plays}
    assert sorted(tiles) == sorted(str(tile) for tile in TILES if str(tile) not in held)
    rows = [place for place in (*range(players), 5) if place != 1]
    columns = [tile.id for tile in TILES if str(tile) in tiles]
    assert (
        np.abs(np.array(chances).reshape(players, -1) - exact[np.ix_(rows, columns)]).max() < 1e-4
    )


def test_verdicts_are_tables_of_all_options_and_of_all_mistakes() -> None:
    game = play_randomly(Game("five_up", players=2, seed=2), Random(2), 30)
    judgement = judge(game, "pimc:worlds=50")
    decision = judgement.decisions[0]
    cells = list(ET.fromstring(decision._repr_html_()).itertext())  # noqa: S314
    assert {str(option.move) for option in decision.options} <= set(cells)
    assert f"<b>{decision.move}</b>" in decision._repr_html_()
    table = ET.fromstring(judgement._repr_html_())  # noqa: S314  (it is our own)
    mistakes = judgement.mistakes()
    assert mistakes
    assert len(list(table.iter("tr"))) == 1 + len(mistakes)
    made = [row.findall("td")[2].text for row in table.iter("tr") if row.findall("td")]
    assert made == [str(mistake.move) for mistake in mistakes]
