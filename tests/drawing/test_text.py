"""The layout as a picture: which tile hangs on which, where all lie, and the text."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env import MOVES, Move, Tile
from fiveup_env.drawing import placement
from fiveup_env.drawing.felt.boxes import Box, Sizes, joined, overlap
from fiveup_env.drawing.placement import Placed, Placement, place
from fiveup_env.drawing.text import layout_text
from fiveup_env.errors import IllegalMoveError, RulesError

SPINNERS = ("all", "first", "none")
CHARACTERS = Sizes()
QUARTERS = Sizes((4, 2), (2, 4), (2, 2), 1.5)
SIZES = {"characters": CHARACTERS, "quarters": QUARTERS}

few = settings(max_examples=30)
any_layout = given(
    seed=st.integers(0, 2**32), count=st.integers(1, 28), spinners=st.sampled_from(SPINNERS)
)


class Recount:
    """The open ends as the rules count them, with no tree: plain ends, and the doubles' places."""

    def __init__(self, spinners: str) -> None:
        self.spinners = spinners
        self.plain: Counter[int] = Counter()
        self.sides: Counter[int] = Counter()
        self.crosses: Counter[int] = Counter()
        self.doubles = 0

    def play(self, move: Move) -> None:
        """Set a tile."""
        tile, pip = move.tile, move.pip
        assert tile is not None
        if pip is not None:
            double = self.sides if self.sides[pip] else self.crosses
            (self.plain if move.end == "plain" else double)[pip] -= 1
        if not tile.is_double:
            self.plain.update(tile if pip is None else [tile.pips - pip])
            return
        self.sides[tile.high] = 2 if pip is None else 1
        spins = self.spinners == "all" or (self.spinners == "first" and not self.doubles)
        self.crosses[tile.high] = 2 if spins else 0
        self.doubles += 1

    @property
    def ends(self) -> set[tuple[int | None, str | None]]:
        """The pips and kinds that moves name; neither before the lead."""
        plain = {(pip, "plain") for pip in +self.plain}
        return plain | {(pip, "double") for pip in +(self.sides + self.crosses)} or {(None, None)}

    @property
    def total(self) -> int:
        """What all ends count."""
        return sum(pip * n for pip, n in self.plain.items()) + sum(2 * pip for pip in +self.sides)


def random_plays(seed: int, count: int, spinners: str) -> list[Move]:
    """Plays that fit, from no hands in particular; fewer than asked where none fits any more."""
    random, recount = Random(seed), Recount(spinners)
    plays: list[Move] = []
    while len(plays) < count:
        left = [move for move in MOVES if move.tile and move.tile not in {p.tile for p in plays}]
        legal = [move for move in left if (move.pip, move.end) in recount.ends]
        if not legal:
            break
        plays.append(random.choice(legal))
        recount.play(plays[-1])
    return plays


def placed_of(
    plays: list[Move], spinners: str, sizes: Sizes = CHARACTERS, *given: Any
) -> Placement:
    placed = place(plays, spinners, sizes, *given)
    assert placed is not None
    return placed


def moves(text: str) -> list[Move]:
    return [Move.parse(word) for word in text.split()]


# --- The tree


@few
@any_layout
def test_ends_are_what_the_rules_count_and_no_later_play_moves_a_tile_of_the_tree(
    seed: int, count: int, spinners: str
) -> None:
    recount, plays = Recount(spinners), random_plays(seed, count, spinners)
    before: list[tuple[object, ...]] = []
    for number, play in enumerate(plays, 1):
        recount.play(play)
        placed = placed_of(plays[:number], spinners)
        assert placed.total == recount.total
        ends = {(m.pip, "plain" if m.kind == "plain" else "double") for m in placed.marks}
        assert ends == recount.ends
        attached: list[tuple[object, ...]] = [(tile.tile, tile.parent) for tile in placed.tiles]
        assert attached[:-1] == before
        before = attached


def test_of_equal_ends_the_one_that_was_chosen_or_nearest_to_the_lead_is_taken() -> None:
    plays = "6-4 6-5@6 5-4@5 4-3@4"
    nearest = {"6-5": "6-4", "5-4": "6-5", "4-3": "6-4", "4-2": "5-4"}
    assert parents(f"{plays} 4-2@4") == nearest
    ends = placed_of(moves(plays)[:3], "all").marks
    far = next(mark.arm for mark in ends if mark.number == 2)
    assert parents(plays, (None, None, None, far))["4-3"] == "5-4"


def parents(plays: str, arms: tuple[int | None, ...] = ()) -> dict[str, str]:
    """The tile that every tile but the lead is attached to."""
    tiles = placed_of(moves(plays), "all", CHARACTERS, None, arms).tiles
    return {str(t.tile): str(tiles[t.parent].tile) for t in tiles if t.parent is not None}


@few
@any_layout
def test_every_tile_lies_on_the_arm_that_was_chosen(seed: int, count: int, spinners: str) -> None:
    plays, chosen = random_plays(seed, count, spinners), Random(seed)
    arms: list[int | None] = [None]
    for number, play in enumerate(plays[1:], 1):
        ends = placed_of(plays[:number], spinners, QUARTERS, 46, arms).marks
        same = [mark for mark in ends if mark.pip == play.pip]
        plain = play.end == "plain"
        arms.append(chosen.choice([m.arm for m in same if (m.kind == "plain") == plain]))
    placed = placed_of(plays, spinners, QUARTERS, 46, arms)
    check(placed)
    assert [tile.arm for tile in placed.tiles] == arms


def test_plays_that_fit_nowhere_arms_that_are_closed_and_other_spinners_are_refused() -> None:
    with pytest.raises(IllegalMoveError, match="play 3, 4-3@4, fits nowhere"):
        placed_of(moves("6-4 4-4@4 4-3@4"), "all", QUARTERS, None, (None, None, 1))
    for plays in ("5-3@5", "5-3 5-3", "5-3 6-6@6", "5-5 5-3@5", "5-3 pass"):
        with pytest.raises(IllegalMoveError, match="fits nowhere on the layout"):
            layout_text(moves(plays), "all")
    with pytest.raises(RulesError, match="no choice of spinners 'some'"):
        layout_text([], "some")


# --- The placement


def shown(tile: Placed) -> dict[tuple[int, int], set[int]]:
    """The pips of every cell of a tile; a cell in the middle belongs to both halves."""
    first, second = tile.halves
    left, top, width, height = tile.box
    cells = {}
    for x, y in product(range(width), range(height)):
        side = 2 * y + 1 - height if tile.upright else 2 * x + 1 - width
        cells[left + x, top + y] = (
            {first} if side < 0 else {second} if side > 0 else {first, second}
        )
    return cells


def contacts(one: Placed, other: Placed) -> list[set[int]]:
    """For every edge between two cells of two tiles: the pips that both cells show."""
    cells = shown(other)
    return [
        pips & cells[x + dx, y + dy]
        for (x, y), pips in shown(one).items()
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1))
        if (x + dx, y + dy) in cells
    ]


def check(placed: Placement) -> None:
    """Nothing overlaps, and two tiles touch only where one hangs on the other by equal pips."""
    links = [tile.link for tile in placed.tiles if tile.link]
    boxes = [*(t.box for t in placed.tiles), *links, *(m.box for m in placed.marks)]
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    assert all(joined(placed.extent, box) == placed.extent for box in boxes)
    for one, other in combinations(placed.tiles, 2):
        met = contacts(one, other)
        hangs = other.parent == placed.tiles.index(one)
        assert bool(met) == (hangs and other.link is None)
        assert any(met) or not met


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@few
@any_layout
def test_nothing_overlaps_and_tiles_touch_by_equal_pips(
    sizes: Sizes, seed: int, count: int, spinners: str
) -> None:
    check(placed_of(random_plays(seed, count, spinners), spinners, sizes, 80))


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_nothing_overlaps_where_no_search_came_through(
    sizes: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "TRIES", 0)
    for seed in range(12):
        spinners = SPINNERS[seed % 3]
        placed = placed_of(random_plays(seed, 28, spinners), spinners, sizes)
        check(placed)
        assert all(tile.link for tile in placed.tiles[1:])


def test_a_picture_keeps_to_its_width_and_most_plays_leave_it_as_it_was() -> None:
    kept = []
    for seed in range(6):
        spinners = SPINNERS[seed % 3]
        plays = random_plays(seed, 28, spinners)
        picture = layout_text(plays, spinners, width=70)
        assert max(map(len, picture.splitlines())) <= 70
        before: list[Box] = []
        for number in range(1, len(plays) + 1):
            tiles = placed_of(plays[:number], spinners, CHARACTERS, 100).tiles
            kept.append(before == [tile.box for tile in tiles[:-1]])
            before = [tile.box for tile in tiles]
    assert sum(kept) > 0.9 * len(kept)


# --- The text


def tiles_in(picture: str) -> list[Tile]:
    """The tiles that a reader sees."""
    rows = picture.splitlines()
    pairs = [pair for row in rows for pair in re.findall(r"[\[┃{](\d)[│┃:](\d)[\]┃}]", row)]
    for y, row in enumerate(rows):
        columns = [match.start() + 1 for match in re.finditer(r"├─┤|┣━┫|\[-\]|{-}", row)]
        pairs += [(rows[y - 1][x], rows[y + 1][x]) for x in columns]
    return sorted(Tile.parse("-".join(pair)) for pair in pairs)


@few
@any_layout
def test_every_tile_is_seen_once(seed: int, count: int, spinners: str) -> None:
    plays = random_plays(seed, count, spinners)
    for unicode in (True, False):
        picture = layout_text(plays, spinners, unicode=unicode)
        assert tiles_in(picture) == sorted(play.tile for play in plays if play.tile)
        assert unicode or picture.isascii()


PICTURES = {
    "no tile": ("", "all", "No tile has been set yet."),
    "a double lead counts once": (
        "5-5",
        "all",
        """
   ┏5┓
10←┣━┫→
   ┗5┛

last 5-5; open ends 5-5 (10); total 10""",
    ),
    "a spinner with both sides covered": (
        "5-5 5-0@5x 5-1@5x",
        "first",
        """
         ↑
        ┌5┐
 1←┃1┃5┃├─┤[5│0]→0
        └5┘
         ↓

last 5-1; open ends 5-5 (0), 0, 1; total 1""",
    ),
    "a double on each arm, and a cross arm": (
        "6-4 4-4@4 4-3@4x 4-1@4x 3-3@3 6-6@6",
        "all",
        """
            ↑
   ┏6┓     ┌4┐     ┌3┐
12←┣━┫[6│4]├─┤[4│3]├─┤→6
   ┗6┛     └4┘     └3┘
           ┌4┐
           ├─┤
           └1┘
            ↓1

last 6-6; open ends 4-4 (0), 1, 3-3 (6), 6-6 (12); total 19""",
    ),
}


@pytest.mark.parametrize(("plays", "spinners", "picture"), PICTURES.values(), ids=PICTURES)
def test_a_picture_that_somebody_read(plays: str, spinners: str, picture: str) -> None:
    assert layout_text(moves(plays), spinners) == picture.removeprefix("\n")


def test_plain_characters_draw_the_same_picture() -> None:
    plays = moves("5-5 5-0@5x 5-1@5x 5-2@5x 2-2@2")
    picture = layout_text(plays, "all").translate(str.maketrans("│─→↓←↑", ":->v<^"))
    for bold, plain in (("┌├└", "["), ("┐┤┘", "]"), ("┏┣┗", "{"), ("┓┫┛", "}"), ("━", "-")):
        picture = re.sub(f"[{bold}]", plain, picture)
    picture = re.sub("┃(.)┃(.)┃", r"{\1:\2}", picture)
    assert layout_text(plays, "all", unicode=False) == picture
