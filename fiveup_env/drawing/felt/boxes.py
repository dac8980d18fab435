"""Boxes of whole cells, the sizes of tiles, and the exits at which an arm continues from a tile."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.drawing.felt.tree import CROSS, PLAIN
from fiveup_env.native import Array, Struct, inlined, signed

RIGHT, DOWN, LEFT, UP = range(4)
STEP_X, STEP_Y = np.array([1, 0, -1, 0]), np.array([0, 1, 0, -1])

HALF: Final = 1  # from the middle of a tile to the middle of either half
RIM: Final = 1  # cells kept free between tiles that are not attached to each other


class Box(NamedTuple):
    """A rectangle of cells; one that is 0 wide stands for none."""

    left: int
    top: int
    width: int
    height: int


class Sizes(NamedTuple):
    """The sizes of things in cells, all odd or all even.

    The middle of a half is one cell away from the middle of its tile. A cell is a character, or a
    quarter of the length of a real tile: `Sizes((4, 2), (2, 4), (2, 2), 1.5)`.
    """

    flat: tuple[int, int] = (5, 1)
    upright: tuple[int, int] = (3, 3)
    mark: tuple[int, int] = (3, 1)  # kept free at an open end, for what it counts
    aspect: float = 3.0  # columns to rows of a good picture


class Exit(NamedTuple):
    """A place of a tile on the felt, its direction, and the box and point that it starts from."""

    node: int
    place: int
    direction: int
    box: Box
    x: int
    y: int


@inlined
def box_in(row: Array) -> Box:
    """Return the box that four numbers of a struct hold."""
    return Box(signed(row[0]), signed(row[1]), signed(row[2]), signed(row[3]))


@inlined
def put_box(row: Array, box: Box) -> None:
    """Write a box into four numbers of a struct."""
    row[0], row[1], row[2], row[3] = box


@inlined
def no_box() -> Box:
    """Return the box that stands for none."""
    return Box(0, 0, 0, 0)


@inlined
def grown(box: Box) -> Box:
    """Return the box with a rim around it."""
    return Box(box.left - RIM, box.top - RIM, box.width + 2 * RIM, box.height + 2 * RIM)


@inlined
def moved(box: Box, direction: int, by: int) -> Box:
    """Return the box moved by a number of cells."""
    left, top = box.left + STEP_X[direction] * by, box.top + STEP_Y[direction] * by
    return Box(left, top, box.width, box.height)


@inlined
def joined(one: Box, other: Box) -> Box:
    """Return the smallest box around both."""
    left, top = min(one.left, other.left), min(one.top, other.top)
    right = max(one.left + one.width, other.left + other.width)
    bottom = max(one.top + one.height, other.top + other.height)
    return Box(left, top, right - left, bottom - top)


@inlined
def overlap(one: Box, other: Box) -> bool:
    """Return whether two boxes share a cell."""
    return (
        one.left < other.left + other.width
        and other.left < one.left + one.width
        and one.top < other.top + other.height
        and other.top < one.top + one.height
    )


@inlined
def reach(box: Box, direction: int) -> int:
    """Return the extent of the box from the origin in a direction."""
    if direction == RIGHT:
        return box.left + box.width
    if direction == DOWN:
        return box.top + box.height
    return -box.left if direction == LEFT else -box.top


@inlined
def beside(box: Box, direction: int, size: tuple[int, int], x: int, y: int) -> Box:
    """Return a box of some size that touches this one, in line with a point of it."""
    width, height = size
    left, top = x - width // 2, y - height // 2
    if direction == LEFT:
        left = box.left - width
    elif direction == RIGHT:
        left = box.left + box.width
    elif direction == UP:
        top = box.top - height
    else:
        top = box.top + box.height
    return Box(left, top, width, height)


@inlined
def is_across(direction: int) -> bool:
    """Return whether an arm of this direction lies across the felt, and not up or down."""
    return direction in (LEFT, RIGHT)


@inlined
def tile_size(sizes: Sizes, node: Struct, direction: int) -> tuple[int, int]:
    """Return the size of a tile in an arm of this direction: a double lies across it."""
    return sizes.flat if is_across(direction) != (node.high == node.low) else sizes.upright


@inlined
def claim_size(sizes: Sizes, direction: int) -> tuple[int, int]:
    """Return the space that an exit should have: for two tiles, one of them a double."""
    if is_across(direction):
        return sizes.flat[0] + sizes.upright[0], sizes.upright[1]
    return sizes.flat[0], sizes.flat[1] + sizes.upright[1]


@inlined
def link_size(sizes: Sizes, direction: int, length: int) -> tuple[int, int]:
    """Return the size of a connector."""
    thickness = 2 - sizes.flat[1] % 2
    return (length, thickness) if is_across(direction) else (thickness, length)


@inlined
def exit_of(node: Struct, number: int, place: int, direction: int, box: Box) -> Exit:
    """Return the exit at a place of a tile that lies in an arm of this direction."""
    turn = 0
    if node.kinds[place] == CROSS:
        turn = 1 if place == node.count - 1 else 3
    elif node.parent < 0 and place == 0:
        turn = 2
    way = (direction + turn) % 4
    far = HALF if node.kinds[place] == PLAIN else 0
    x = box.left + box.width // 2 + STEP_X[way] * far
    y = box.top + box.height // 2 + STEP_Y[way] * far
    return Exit(number, place, way, box, x, y)


@inlined
def room(way_out: Exit, size: tuple[int, int]) -> Box:
    """Return a box of some size directly in front of an exit."""
    return beside(way_out.box, way_out.direction, size, way_out.x, way_out.y)
