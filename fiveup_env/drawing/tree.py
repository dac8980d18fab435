"""The tree of tiles on the table, rebuilt from the plays of one hand.

The engine keeps only what the open ends show, because nothing else matters to the game. A picture
must know which tile is attached to which. Where a play fits several places that the rules do not
tell apart, the one nearest to the lead is taken, then the oldest; later plays change no earlier
choice.
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
    """A part of a tile to which another may be attached.

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
        """The number of the tile, and the place as the rules see it."""
        return self.node.number, self.node.places[self.place]


@dataclass(eq=False, slots=True)
class Node:
    """A tile on the table; its number is that of its play (0 for the lead).

    It is attached to `parent.places[place]`; `children` holds the tiles attached to its own places.
    """

    tile: Tile
    number: int
    parent: Node | None
    place: int | None
    places: tuple[Place, ...]
    children: dict[int, Node] = field(default_factory=dict)

    def open_ends(self) -> list[OpenEnd]:
        """Return the open ends of this tile; the second free side of a double adds nothing."""
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
        """The number of the parent, and the place as the rules see it; None for the lead."""
        if self.parent is None or self.place is None:
            return None
        return self.parent.number, self.parent.places[self.place]

    def path(self) -> list[Node]:
        """Return the tiles from the lead to this one."""
        return ([] if self.parent is None else self.parent.path()) + [self]

    def walk(self) -> Iterator[Node]:
        """Yield this tile and all below it, each after its parent."""
        yield self
        for child in self.children.values():
            yield from child.walk()


def layout_tree(plays: Sequence[Move], spinners: str) -> Node | None:
    """Return the lead, with all other tiles attached to it, or None before the lead.

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
    """Return the open end for a play: the one nearest to the lead, so that all arms grow alike."""
    ends = (
        end
        for node in nodes
        for end in node.open_ends()
        if end.pip == move.pip and (end.kind == "plain") == (move.end == "plain")
    )
    return min(ends, key=lambda end: len(end.node.path()), default=None)


def _places(tile: Tile, at: OpenEnd | None, *, spins: bool) -> tuple[Place, ...]:
    """Return the places of a tile, except the one by which it is attached."""
    if tile.is_double:
        sides = 2 if at is None else 1
        return (Place("side", tile.high),) * sides + (Place("cross", tile.high),) * 2 * spins
    exposed = tile if at is None else [tile.pips - at.pip]
    return tuple(Place("plain", pip) for pip in exposed)


def open_ends(root: Node | None) -> list[OpenEnd]:
    """Return every open end of a layout, the oldest tile's first."""
    nodes = sorted(root.walk(), key=lambda node: node.number) if root else []
    return [end for node in nodes for end in node.open_ends()]


def total(root: Node | None) -> int:
    """Return what all open ends count together."""
    return sum(end.counts for end in open_ends(root))
