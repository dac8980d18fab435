"""A second, slow implementation of the rules, to hold the compiled engine against.

Written from RULES.md alone, literally and slowly: the layout is a tree of tiles, and legal moves,
open ends and totals are read off that tree anew every time they are asked for. Nothing is clever
and nothing is kept up to date by increments, so that each line can be compared with a sentence of
the rules. Chance comes from outside: the caller hands in every deal and every lot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

Pips = tuple[int, int]  # (low, high)
# ((3, 5), None) is a lead, ((3, 5), (5, "plain")) and ((3, 5), (5, "double")) are set on an end;
# then there are ("draw", None) and ("pass", None).
Move = tuple[Pips | str, tuple[int, str] | None]

DRAW: Move = ("draw", None)
PASS: Move = ("pass", None)


class Place:
    """A place of a tile on the table to which one other tile may be attached."""

    def __init__(self, kind: str, pip: int) -> None:
        self.kind = kind  # "plain" (an exposed half), "side" or "cross" (of a double)
        self.pip = pip
        self.attached: Placed | None = None
        self.counts = {"plain": pip, "side": 2 * pip, "cross": 0}[kind]  # as an open end
        self.end = "plain" if kind == "plain" else "double"  # moves do not tell side from cross


class Placed:
    """A tile on the table. `joint` is the pip by which it hangs on another tile, None if led."""

    def __init__(self, tile: Pips, joint: int | None, spinner: bool) -> None:
        self.tile, self.joint, self.spinner = tile, joint, spinner
        low, high = tile
        self.is_double = low == high
        if self.is_double:
            # The lead has two free sides; on an arm, one side is covered by what it hangs on.
            kinds = ["side", "side"] if joint is None else ["side"]
            kinds += ["cross", "cross"] if spinner else []
            self.places = [Place(kind, low) for kind in kinds]
        else:
            # The lead exposes both halves; on an arm, the other half than the joint.
            exposed = [low, high] if joint is None else [high if joint == low else low]
            self.places = [Place("plain", pip) for pip in exposed]

    def open_places(self) -> list[Place]:
        """The free places, without the crosses as long as a side is free too."""
        free = [place for place in self.places if place.attached is None]
        free_sides = [place for place in free if place.kind == "side"]
        return free_sides or free


class Reference:
    """A game: the rules, the scores, and the hand in progress."""

    def __init__(self, rules: Mapping[str, Any], players: int, teams: bool) -> None:
        self.rules = dict(rules)
        self.players = players
        self.teams = teams
        self.sides: int = 2 if teams else players
        self.scores: list[int] = [0] * self.sides
        self.winner: int | None = None
        self.hands: list[list[Pips]] = []
        self.boneyard: list[Pips] = []
        self.turn: int = 0
        self.lead: int = 0
        self.must_lead: Pips | None = None  # the tile that has to be led, if any tile will not do
        self.ended: str | None = None
        self.end_points: list[int] | None = None
        self.log: list[dict[str, Any]] = []
        self._root: Placed | None = None  # the led tile, on which all others hang
        self._draws: list[Pips] = []  # by the player to move, since the turn came round
        self._passes = 0  # in a row, up to now

    def deal(self, hands: Sequence[Sequence[Pips]], boneyard: Sequence[Pips], lot: int) -> None:
        """Begin a hand; `lot` leads where the lot decides, and the tiles dealt do not."""
        self.hands, first = [list(hand) for hand in hands], not self.hands
        self.must_lead = None
        if not first and self.rules["leader"] == "rotate":
            self.lead = (self.lead + 1) % self.players
        elif not first and self.ended == "domino":
            self.lead = self.turn  # still the player who set the last tile
        elif self.rules["lead_tile"] == "highest_double":
            self.must_lead = self._tile_that_leads()
            self.lead = next(p for p in range(self.players) if self.must_lead in self.hands[p])
        else:
            self.lead = lot
        self.turn = self.lead
        self.boneyard = list(boneyard)
        self.ended = None
        self.end_points = None
        self.log = []
        self._root = None
        self._draws = []
        self._passes = 0

    def _tile_that_leads(self) -> Pips:
        """The highest double dealt or, without doubles, the tile with most pips: see the rules."""
        dealt = [tile for hand in self.hands for tile in hand]
        doubles = [(low, high) for low, high in dealt if low == high]
        if doubles:
            return max(doubles)
        most = max(low + high for low, high in dealt)
        heaviest = [(low, high) for low, high in dealt if low + high == most]
        return max(heaviest, key=lambda tile: tile[1])  # of equals the one with the higher half

    def copy(self) -> Reference:
        """The same game, which can be played on without touching this one."""
        return deepcopy(self)

    # The layout

    def _layout(self) -> list[Placed]:
        """Every tile on the table, by following the tree from the lead."""
        layout: list[Placed] = [] if self._root is None else [self._root]
        for tile in layout:  # grows while it is walked
            layout.extend(p.attached for p in tile.places if p.attached is not None)
        return layout

    def open_ends(self) -> list[tuple[int, str, int]]:
        """Every open end: (pip, "plain" | "side" | "cross", what it counts)."""
        ends: list[tuple[int, str, int]] = []
        for tile in self._layout():
            places = tile.open_places()
            if tile.is_double:
                places = places[:1]  # one end, counted once, however many places are free
            ends.extend((place.pip, place.kind, place.counts) for place in places)
        return ends

    @property
    def total(self) -> int:
        """What all open ends count together."""
        return sum(counts for _, _, counts in self.open_ends())

    # A turn

    def _may_draw(self) -> bool:
        """Whether more than the reserve is left in the boneyard."""
        return len(self.boneyard) > int(self.rules["reserve"])

    def _plays(self) -> set[Move]:
        """The ways the player to move can set a tile; ends that look alike are one."""
        hand = self.hands[self.turn]
        if self._root is None:
            return {(tile, None) for tile in hand if self.must_lead in (None, tile)}
        places = [place for placed in self._layout() for place in placed.open_places()]
        return {
            (tile, (place.pip, place.end)) for place in places for tile in hand if place.pip in tile
        }

    def legal(self) -> set[Move]:
        """What the player to move may do; empty when no hand is in progress."""
        if not self.hands or self.ended is not None:
            return set()
        moves = self._plays()
        if self.rules["draw"] == "optional":
            if self._may_draw():
                moves.add(DRAW)
            elif not moves:
                moves.add(PASS)
        return moves

    def play(self, move: Move) -> None:
        """Make a legal move, and then whatever draws and passes are forced."""
        what, on = move
        if move == DRAW:
            self._draw()
        elif isinstance(what, str):
            self._pass()
        else:
            self._set(what, on)
        if self.rules["draw"] == "until_playable":
            while self.ended is None and not self._plays():
                if self._may_draw():
                    self._draw()
                else:
                    self._pass()

    def _draw(self) -> None:
        """The player to move takes the next tile of the boneyard."""
        tile = self.boneyard.pop(0)
        self.hands[self.turn].append(tile)
        self._draws.append(tile)

    def _pass(self) -> None:
        """The player to move passes; the hand is blocked when everybody has, in turn."""
        self.log.append({"player": self.turn, "draws": self._draws, "play": None})
        self._draws = []
        self._passes += 1
        if self._passes == self.players:
            self._end_hand("blocked")
        else:
            self.turn = (self.turn + 1) % self.players

    def _set(self, tile: Pips, on: tuple[int, str] | None) -> None:
        """The player to move sets a tile and scores the total if it is a multiple."""
        self.hands[self.turn].remove(tile)
        self._attach(tile, on)
        self._passes = 0
        total = self.total
        points = 0
        if total % self.rules["multiple"] == 0:
            points = total // self.rules["multiple"] * self.rules["unit"]
        side = self._side(self.turn)
        points = self._add_points(side, points)
        where = None if on is None else {"pip": on[0], "end": on[1]}
        made = {"player": self.turn, "draws": self._draws, "play": tile, "on": where}
        self.log.append(made | {"total": total, "points": points})
        self._draws = []
        at_target = points > 0 and self.scores[side] >= self.rules["target"]
        if self.rules["game_end"] == "immediate" and at_target:
            self.ended = "target"
            self.winner = side
        elif not self.hands[self.turn]:
            self._end_hand("domino")
        else:
            self.turn = (self.turn + 1) % self.players

    def _attach(self, tile: Pips, on: tuple[int, str] | None) -> None:
        """Put the tile on the table: as the lead, or on the first end that fits."""
        layout = self._layout()
        spinners = self.rules["spinners"]
        doubles = [placed for placed in layout if placed.is_double]
        spinner = spinners == "all" or (spinners == "first" and not doubles)
        if on is None:
            self._root = Placed(tile, None, spinner)
            return
        pip, end = on
        places = [place for placed in layout for place in placed.open_places()]
        fitting = [place for place in places if place.pip == pip and place.end == end]
        fitting[0].attached = Placed(tile, pip, spinner)

    # Scoring

    def _side(self, player: int) -> int:
        """The side of a player: seats 0 and 2 against 1 and 3, or everybody alone."""
        return player % 2 if self.teams else player

    def _add_points(self, side: int, points: int) -> int:
        """Score points; with exact_target none that go past the target. Return what was added."""
        past_target = self.scores[side] + points > self.rules["target"]
        if self.rules["exact_target"] and points > 0 and past_target:
            return 0
        self.scores[side] += points
        return points

    def _end_hand(self, how: str) -> None:
        """Score what is left in the hands, and see whether that ends the game."""
        self.ended = how
        if self.rules["hand_end"] == "subtract_own":
            rounded = self._subtract_own()
        elif how == "domino":
            rounded = self._gains_after_domino()
        else:
            rounded = self._gains_after_block()
        self.end_points = [
            self._add_points(side, number * self.rules["unit"])
            for side, number in enumerate(rounded)
        ]
        best = max(self.scores)
        if best >= self.rules["target"] and self.scores.count(best) == 1:
            self.winner = self.scores.index(best)

    def _rounded(self, pips: int) -> int:
        """The nearest number of multiples in so many pips."""
        multiple: int = self.rules["multiple"]
        return (pips + (multiple - 1) // 2) // multiple

    def _pips_in_hands(self, side: int) -> list[int]:
        """The pips left in each hand of a side."""
        hands = [self.hands[p] for p in range(self.players) if self._side(p) == side]
        return [sum(low + high for low, high in hand) for hand in hands]

    def _pips_by_side(self) -> list[int]:
        """The pips left in all hands of each side."""
        return [sum(self._pips_in_hands(side)) for side in range(self.sides)]

    def _subtract_own(self) -> list[int]:
        """Every side loses what is left in its hands, however the hand ended."""
        if self.rules["round_per"] in {"side", "all"}:
            return [-self._rounded(pips) for pips in self._pips_by_side()]
        hands = [self._pips_in_hands(side) for side in range(self.sides)]
        return [-sum(self._rounded(pips) for pips in of_side) for of_side in hands]

    def _opponents_of(self, winner: int) -> int:
        """The pips of all other sides: each hand rounded, or each side's sum, or the sum of all."""
        hands = [self._pips_in_hands(side) for side in range(self.sides) if side != winner]
        if self.rules["round_per"] == "hand":
            return sum(self._rounded(pips) for of_side in hands for pips in of_side)
        if self.rules["round_per"] == "side":
            return sum(self._rounded(sum(of_side)) for of_side in hands)
        return self._rounded(sum(sum(of_side) for of_side in hands))

    def _gains_after_domino(self) -> list[int]:
        """The side that went out gains the other sides' pips (and armanino: see below)."""
        pips = self._pips_by_side()
        out = self._side(self.turn)
        others = [side for side in range(self.sides) if side != out]
        gains = [0] * self.sides
        gains[out] = self._opponents_of(out)
        if self.rules["hand_end"] == "armanino" and self.sides == 3:
            # The lower of the other two gains the difference; if they are equal, it is nothing.
            lower, higher = sorted(others, key=lambda side: pips[side])
            gains[lower] = self._rounded(pips[higher] - pips[lower])
        return gains

    def _gains_after_block(self) -> list[int]:
        """The side with strictly fewest pips gains; of ties only one is worth anything."""
        pips = self._pips_by_side()
        lowest = [side for side in range(self.sides) if pips[side] == min(pips)]
        armanino_of_three = self.rules["hand_end"] == "armanino" and self.sides == 3
        difference = armanino_of_three or self.rules["block_pays"] == "difference"
        gains = [0] * self.sides
        if len(lowest) == 1:
            own = pips[lowest[0]]
            others = sum(pips) - own
            gain = self._rounded(others - own) if difference else self._opponents_of(lowest[0])
            gains[lowest[0]] = gain
        elif len(lowest) == 2 and self.sides == 3 and not armanino_of_three:
            multiple = self.rules["multiple"]
            for side in lowest:  # half the third's pips, rounded
                gains[side] = (max(pips) + multiple - 1) // (2 * multiple)
        return gains
