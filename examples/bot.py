"""An agent in plain Python, without this package: it takes the points that a move scores now.

fiveup evaluate --agents "program:python examples/bot.py,greedy" --deals 20
"""

import json
import sys
from typing import Any


def total_after(move: str, layout: dict[str, Any]) -> int:
    """Return what all open ends count after a move."""
    tile, _, on = move.partition("@")
    high, low = map(int, tile.split("-"))
    if not on:
        return high + low
    pip, counted = int(on[0]), int(on[0])
    if on.endswith("x"):  # on a double, which counts until its last side is covered
        counted = 2 * pip if layout["doubles"][pip] == "one side" else 0
    outward = 2 * pip if high == low else high + low - pip
    return layout["total"] - counted + outward


def worth(move: str, view: dict[str, Any], rules: dict[str, Any]) -> tuple[int, int]:
    """Return the points of a move, then the pips that it gets rid of."""
    if move in {"draw", "pass"}:
        return -1, 0
    total = total_after(move, view["layout"])
    points = 0 if total % rules["multiple"] else total // rules["multiple"]
    return points, int(move[0]) + int(move[2])


def best(view: dict[str, Any], rules: dict[str, Any]) -> str:
    """Return the legal move that is worth most."""
    moves: list[str] = view["legal"]
    return max(moves, key=lambda move: worth(move, view, rules))


for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "quit":
        break
    answer = {"type": "hello", "protocol": "fiveup-agent", "version": 1, "name": "plain Python"}
    if asked["type"] == "choose":
        moves = [best(view, asked["rules"]) for view in asked["views"]]
        answer = {"type": "chosen", "id": asked["id"], "moves": moves}
    print(json.dumps(answer), flush=True)
