"""The picture of a table, read back from its SVG, and the page that replays a game."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from itertools import combinations
from random import Random
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

import fiveup_env
from fiveup_env import Game, Rules, Tile
from fiveup_env.drawing import placement
from fiveup_env.drawing.replay import replay_html
from fiveup_env.drawing.scene import layout_picture
from fiveup_env.drawing.snapshot import Snapshot
from fiveup_env.drawing.svg import game_svg, picture_svg
from fiveup_env.drawing.transcript import table_text
from fiveup_env.files import Json
from fiveup_env.game.records import record_of
from tests.support import EVERY_PRESET, game_of, hidden_otherwise, play_randomly, push_all

NAMESPACE = "{http://www.w3.org/2000/svg}"


class Area(NamedTuple):
    """A rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> bool:
        """Whether they share more than an edge."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return min(width, height) > 0.05

    def holds(self, other: Area) -> bool:
        """Whether the other lies inside."""
        within = self.left <= other.left and other.right <= self.right
        return within and self.top <= other.top and other.bottom <= self.bottom


class Picture:
    """The groups of an SVG by their class."""

    def __init__(self, svg: str) -> None:
        self.groups: dict[str, list[ET.Element]] = defaultdict(list)
        for group in ET.fromstring(svg).iter(f"{NAMESPACE}g"):  # noqa: S314  (it is our own)
            self.groups[group.attrib["class"]].append(group)

    def tiles(self) -> list[str]:
        """The names of the tiles on the table."""
        return [group.attrib["data-tile"] for group in self.groups["tile"]]

    def text(self, kind: str) -> str:
        """What a class says."""
        return " ".join(map(text_of, self.groups[kind]))


def text_of(group: ET.Element) -> str:
    """What a group says."""
    return "".join(group.itertext())


def area(group: ET.Element) -> Area:
    """The area of a group's rectangles or dots."""
    areas = []
    for rect in group.iter(f"{NAMESPACE}rect"):
        x, y, width, height = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        areas.append(Area(x, y, x + width, y + height))
    for path in group.iter(f"{NAMESPACE}path"):
        r = float(path.attrib["stroke-width"]) / 2
        areas += [Area(x - r, y - r, x + r, y + r) for x, y in dots(path)]
    lefts, tops, rights, bottoms = zip(*areas, strict=True)
    return Area(min(lefts), min(tops), max(rights), max(bottoms))


def dots(path: ET.Element) -> list[tuple[float, float]]:
    """The middles of the dots that a path draws."""
    points = re.findall(r"M(\S+) (\S+?)h0", path.attrib["d"])
    return [(float(x), float(y)) for x, y in points]


def counted(groups: list[ET.Element]) -> tuple[Counter[str], dict[str, int]]:
    """What the marks of open ends say: every plain end, and each double with what it counts."""
    plain: Counter[str] = Counter()
    doubles: dict[str, int] = defaultdict(int)
    for group in groups:
        end, counts = group.attrib["data-end"], group.attrib["data-counts"]
        if end.endswith("x"):
            doubles[end] += int(counts or 0)
        else:
            assert end == counts
            plain[end] += 1
    return plain, dict(doubles)


def assert_clear(groups: list[ET.Element]) -> None:
    """No two of these cover each other."""
    for one, other in combinations(map(area, groups), 2):
        assert not one.overlaps(other)


def assert_shows(svg: str, game: Game) -> None:
    """The picture shows this game, whole and in its place."""
    picture = Picture(svg)
    groups = picture.groups
    assert Counter(picture.tiles()) == Counter(str(play.tile) for play in game.plays)
    for group in groups["tile"] + groups["held"]:
        paths = group.iter(f"{NAMESPACE}path")
        pips = [len(dots(path)) for path in paths if path.attrib["stroke"] == "#23201c"]
        assert sum(pips) == Tile.parse(group.attrib["data-tile"]).pips
    plain, doubles = counted(groups["end"])
    ends = game.layout().ends
    assert plain == Counter(str(end) for end in ends if end.kind == "plain")
    assert doubles == {str(end): end.counts for end in ends if end.kind == "double"}
    for group in groups["end"]:
        assert text_of(group) == group.attrib["data-counts"]
    assert picture.text("total") == f"total {game.layout().total}"
    if game.plays:
        name = str(game.plays[-1].tile)
        (last,) = (group for group in groups["tile"] if group.attrib["data-tile"] == name)
        assert area(groups["last"][0]).holds(area(last))

    for seat in range(game.rules.players):
        held = [group for group in groups["held"] if group.attrib["data-seat"] == str(seat)]
        assert [group.attrib["data-tile"] for group in held] == list(map(str, game.hand_of(seat)))
        assert all(area(groups["seat"][seat]).holds(area(group)) for group in held)
        assert (len(groups["seat"][seat]) == 2) == (seat == game.turn)
    assert picture.text("score").split() == list(map(str, game.scores))
    assert picture.text("boneyard") == f"boneyard {game.boneyard_count}"
    assert len(list(groups["boneyard"][0].iter(f"{NAMESPACE}rect"))) == 2 * game.boneyard_count

    assert_clear(groups["tile"] + groups["end"] + groups["link"])
    assert_clear(groups["held"] + groups["name"])
    felt, board = area(groups["felt"][0]), area(groups["board"][0])
    assert all(felt.holds(area(group)) for group in groups["tile"] + groups["end"] + groups["last"])
    assert all(board.holds(area(group)) for group in groups["peg"])


@pytest.mark.parametrize(
    "rules",
    [
        *EVERY_PRESET[::12],
        Rules.preset(players=2, draw="optional", max_pip=1, hand_size=1),
        Rules.preset(players=2, target=1_000_000),
        Rules.preset(players=2, target=1),
    ],
    ids=str,
)
def test_the_picture_shows_the_game(rules: Rules) -> None:
    random, game = Random(1), Game(rules, seed=2)
    for moves in (0, 1, 7, 20, 100, 10_000):
        play_randomly(game, random, moves)
        assert_shows(game_svg(game), game)


def test_the_picture_shows_connectors_where_the_placement_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(placement, "TRIES", 0)
    game, random = Game("five_up", players=2, seed=3), Random(3)
    while len(game.plays) < 12:
        play_randomly(game, random, 1)
    svg = game_svg(game)
    assert_shows(svg, game)
    assert len(Picture(svg).groups["link"]) == 11
    replay = Replay(replay_html(game))
    for moment in range(len(replay.steps)):
        seen = replay.at(moment)
        assert_clear(seen["tile"] + seen["end"] + seen["link"])


def test_doubles_lie_crosswise_and_only_spinners_have_a_pin() -> None:
    game = push_all(game_of("5-5 3-1", "5-3 6-4", "3-3 2-0", spinners="first"), "5-5 5-3@5x 3-3@3")
    shapes = {}
    for group in Picture(game_svg(game)).groups["tile"]:
        box, paths = area(group), len(list(group.iter(f"{NAMESPACE}path")))
        upright = box.bottom - box.top > box.right - box.left
        shapes[group.attrib["data-tile"]] = upright, paths
    assert shapes == {"5-5": (True, 2), "5-3": (False, 1), "3-3": (True, 1)}


def test_the_same_game_gives_the_same_bytes_that_need_nothing_else() -> None:
    game, twin = (play_randomly(Game(seed=5), Random(5), 40) for _ in range(2))
    svg = game_svg(game)
    assert svg == game_svg(twin) == game._repr_svg_()
    assert re.findall(r"\w+://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"href|src=|url\(|<script|<style|@import", svg)
    env = fiveup_env.env(players=3, render_mode="svg", eyes="all")
    env.reset(seed=1)
    assert env.render() == env.unwrapped._repr_svg_() == game_svg(Game(players=3, seed=1))


def test_hands_may_lie_face_down() -> None:
    game = play_randomly(Game(seed=5), Random(5), 6)
    picture = Picture(game_svg(game, hands=()))
    held = picture.groups["held"]
    seats = Counter(int(group.attrib["data-seat"]) for group in held)
    assert [seats[seat] for seat in range(4)] == [len(game.hand_of(seat)) for seat in range(4)]
    assert not any("data-tile" in group.attrib for group in held)
    assert picture.tiles() == [str(play.tile) for play in game.plays]


# --- The replay


class Replay:
    """The page, taken apart: its picture at every moment, and the lines."""

    def __init__(self, page: str) -> None:
        svg = page[page.index("<svg xmlns") : page.index("</svg>\n\n<p") + 6]
        self.picture = Picture(svg)
        steps = re.search(r'<script id="steps" type="application/json">(.*?)</script>', page)
        assert steps
        self.steps = json.loads(steps[1])

    def at(self, moment: int) -> dict[str, list[ET.Element]]:
        """The groups seen at a moment, by their class."""
        return {
            kind: [group for group in groups if self._is_seen(group, moment)]
            for kind, groups in self.picture.groups.items()
        }

    @staticmethod
    def _is_seen(group: ET.Element, moment: int) -> bool:
        spans = [span.split("-") for span in group.get("data-on", f"{moment}").split()]
        return any(int(span[0]) <= moment <= int(span[-1]) for span in spans)


def deed_of(move: Json) -> list[str]:
    """What must be said of a recorded move."""
    tiles = [str(Tile.parse(name)) for name in move["draws"] + [move["play"]] * bool(move["play"])]
    words = [f"Seat {move['player']} ", *tiles]
    if move["play"] is None:
        return [*words, "passes"]
    return [*words, f"total {move['total']}", *[f"+{move['points']}"] * bool(move["points"])]


@pytest.mark.parametrize(
    ("fields", "moves"),
    [
        ({"players": 4, "target": 12}, 10_000),
        ({"players": 2, "spinners": "first", "hand_size": 9}, 83),
        ({"players": 2}, 0),
    ],
)
def test_the_replay_shows_every_move_with_tiles_that_stay(fields: Json, moves: int) -> None:
    game = play_randomly(Game(seed=8, **fields), Random(8), moves)
    page = replay_html(game)
    assert re.findall(r"\w+://[^\"]*", page) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"href|src=|url\(|@import", page)
    assert len(page) < 2_000_000
    replay = Replay(page)
    moment = 0
    for number, hand in enumerate(record_of(game)["hands"]):
        places: dict[str, Area] = {}
        plays = 0
        assert f"seat {hand['lead']} leads" in replay.steps[moment][1]
        assert not replay.at(moment)["tile"]
        for move in hand["moves"]:
            moment += 1
            shown_hand, line = replay.steps[moment]
            assert shown_hand == number
            assert all(word in line for word in deed_of(move))
            seen = replay.at(moment)
            plays += move["play"] is not None
            assert len(seen["tile"]) == plays
            for group in seen["tile"]:
                place = area(group)
                assert places.setdefault(group.attrib["data-tile"], place) == place
            if move["play"]:
                assert str(Tile.parse(move["play"])) in places
                plain, doubles = counted(seen["end"])
                counts = sum(int(end) * n for end, n in plain.items()) + sum(doubles.values())
                assert counts == move["total"]
            assert_clear(seen["tile"] + seen["end"])
            assert len(seen["held"]) + plays + int(text_of(seen["boneyard"][0]).split()[1]) == 28
        if hand["ended"]:
            moment += 1
            assert f"Hand {number} " in replay.steps[moment][1]
            scores = {
                group.attrib["data-side"]: text_of(group) for group in replay.at(moment)["score"]
            }
            assert scores == {str(k): str(score) for k, score in enumerate(hand["scores_after"])}
        moment += 1
    assert moment == len(replay.steps) - 1
    assert (" win" if game.outcome() else "Not finished") in replay.steps[-1][1]
    final = replay.at(moment)
    assert Counter(group.attrib["data-tile"] for group in final["held"]) == Counter(
        str(tile) for seat in range(game.rules.players) for tile in game.hand_of(seat)
    )


# --- Parts of the table by themselves


def test_the_layout_by_itself_shows_every_tile_and_grows_with_it() -> None:
    snapshot = Snapshot.of(play_randomly(Game(seed=2), Random(2), 9))
    picture = layout_picture(snapshot, (4, 4))
    shown = Picture(picture_svg(picture, "the layout"))
    assert shown.tiles() == [str(move.tile) for move in snapshot.plays]
    whole = Area(0, 0, picture.width, picture.height)
    assert all(whole.holds(area(group)) for group in shown.groups["tile"])
    assert picture.width > layout_picture(Snapshot.of(Game(seed=2)), (4, 4)).width


def test_hidden_tiles_change_no_line_of_a_picture() -> None:
    game = play_randomly(Game(players=3, seed=3), Random(3), 14)
    for seat in range(3):
        other = hidden_otherwise(game, Random(seat), seat)
        assert (
            game_svg(other, hands={seat})._repr_svg_() == game_svg(game, hands={seat})._repr_svg_()
        )
        assert table_text(other, hands={seat}) == table_text(game, hands={seat})
        assert game_svg(other)._repr_svg_() != game_svg(game)._repr_svg_()
