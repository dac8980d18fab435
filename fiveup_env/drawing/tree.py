"""The tree of tiles on the table, rebuilt from the plays of one hand.

The engine keeps only what the open ends show, for nothing else matters to the game. A picture
has to know which tile hangs on which. Where a play fits several places that are the same to the
rules, the one nearest to the lead is taken, then the oldest; later plays change no earlier choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fiveup_env.errors import IllegalMoveError, RulesError, unknown
from fiveup_env.rules.fields import CHOICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.tiles import Tile


class Place(NamedTuple):
    """A part of a tile that another may be attached to.

    Its kind is `plain` (an exposed half), `side` or `cross` (the long sides of a double and the
    short ends of a spinner).
    """

    kind: str
    pip: int


class OpenEnd(NamedTuple):
    """A place where a tile may be attached now, and what it adds to the total."""

    node: Node
    place: int
    kind: str
    pip: int
    counts: int

    @property
    def key(self) -> tuple[int, Place]:
        """The tile and what the place looks like to the rules."""
        return self.node.number, self.node.places[self.place]


@dataclass(eq=False, slots=True)
class Node:
    """A tile on the table, from the play of that number (the lead is 0).

    It hangs on `parent.places[place]`; `children` holds what hangs on its own places.
    """

    tile: Tile
    number: int
    parent: Node | None
    place: int | None
    places: tuple[Place, ...]
    children: dict[int, Node] = field(default_factory=dict)

    def open_ends(self) -> list[OpenEnd]:
        """The open ends of this tile; of two free sides of a double, the second adds nothing."""
        free = [place for place in range(len(self.places)) if place not in self.children]
        sides = [place for place in free if self.places[place].kind == "side"]
        ends = []
        for place in sides or free:
            kind, pip = self.places[place]
            counts = {"plain": pip, "side": 2 * pip * ([place] == sides[:1]), "cross": 0}[kind]
            ends.append(OpenEnd(self, place, kind, pip, counts))
        return ends

    @property
    def attached_to(self) -> tuple[int, Place] | None:
        """The parent and what the place looks like to the rules; None for the lead."""
        if self.parent is None or self.place is None:
            return None
        return self.parent.number, self.parent.places[self.place]

    def path(self) -> list[Node]:
        """The tiles from the lead to this one."""
        return ([] if self.parent is None else self.parent.path()) + [self]

    def walk(self) -> Iterator[Node]:
        """This tile and all that hang on it, each after the one it hangs on."""
        yield self
        for child in self.children.values():
            yield from child.walk()


def layout_tree(plays: Sequence[Move], spinners: str) -> Node | None:
    """The tile led, with all others hanging on it; None before the lead.

    `spinners` says which doubles have crosses: `all`, the `first` one played, or `none`.
    """
    if spinners not in CHOICES["spinners"]:
        raise RulesError(unknown("choice of spinners", spinners, CHOICES["spinners"]))
    nodes: list[Node] = []
    for number, move in enumerate(plays):
        tile = move.tile
        at = _best_place(nodes, move)
        if tile is None or not (at if number else move.pip is None):
            raise IllegalMoveError(f"play {number + 1}, {move}, fits nowhere on the layout")
        is_first = not any(node.tile.is_double for node in nodes)
        spins = spinners == "all" or (spinners == "first" and is_first)
        node = Node(tile, number, at and at.node, at and at.place, _places(tile, at, spins=spins))
        if at is not None:
            at.node.children[at.place] = node
        nodes.append(node)
    return nodes[0] if nodes else None


def _best_place(nodes: Sequence[Node], move: Move) -> OpenEnd | None:
    """The open end for a play: the one nearest to the lead, so that all arms grow alike."""
    ends = (
        end
        for node in nodes
        for end in node.open_ends()
        if end.pip == move.pip and (end.kind == "plain") == (move.end == "plain")
    )
    return min(ends, key=lambda end: len(end.node.path()), default=None)


def _places(tile: Tile, at: OpenEnd | None, *, spins: bool) -> tuple[Place, ...]:
    """The places of a tile beside the one it hangs by."""
    if tile.is_double:
        sides = 2 if at is None else 1
        return (Place("side", tile.high),) * sides + (Place("cross", tile.high),) * 2 * spins
    exposed = tile if at is None else [tile.pips - at.pip]
    return tuple(Place("plain", pip) for pip in exposed)


def open_ends(root: Node | None) -> list[OpenEnd]:
    """Every open end of a layout, the oldest tile's first."""
    nodes = sorted(root.walk(), key=lambda node: node.number) if root else []
    return [end for node in nodes for end in node.open_ends()]


def total(root: Node | None) -> int:
    """What all open ends count together."""
    return sum(end.counts for end in open_ends(root))
