"""Solved games as small JSON files: size, value, precision, and the command that made them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env import __version__
from fiveup_env.errors import InputError
from fiveup_env.exact.histories import deal_count
from fiveup_env.exact.regret import CfrPlus
from fiveup_env.exact.values import exploitability
from fiveup_env.files import atomic_file
from fiveup_env.native.sources import PACKAGE, source_digest
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.tiles import tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.exact.form import Form

FORMAT: Final = "fiveup-solution"
VERSION: Final = 1
DATA: Final = Path(__file__).with_name("data")
ROUNDS_AT_ONCE: Final = 100
MOST_STATES_KEPT: Final = 1000  # information states of an equilibrium that a file includes
DIGITS: Final = 6


class SolutionError(InputError):
    """A solution that does not exist."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A profile of a game, and the rounds and seconds that it took to find."""

    form: Form
    profile: np.ndarray
    rounds: int
    seconds: float


def solve(form: Form, share: float, most_rounds: int) -> Solution:
    """Solve a game by CFR+, until NashConv is at most a share of the range of payoffs.

    The search also ends after `most_rounds`.
    """
    began, cfr = time.monotonic(), CfrPlus(form)
    while cfr.rounds < most_rounds:
        cfr.run(min(ROUNDS_AT_ONCE, most_rounds - cfr.rounds))
        if exploitability(form, cfr.average).nash_conv <= share * value_range(form):
            break
    return Solution(form, cfr.average, cfr.rounds, time.monotonic() - began)


def value_range(form: Form) -> float:
    """Return the range of the leading seat's payoffs, in points."""
    margins = form.histories.margins(np.flatnonzero(form.histories.nodes["seat"] < 0))[:, 0]
    return float(margins.max() - margins.min())


def size_of(form: Form) -> dict[str, Any]:
    """Return the size of a game, as a solution file has it."""
    nodes, players = form.histories.nodes, form.rules.players
    ends = int((nodes["seat"] < 0).sum())
    return {
        "deals": deal_count(form.rules),
        "decisions": len(nodes) - ends,
        "ends": ends,
        "information_states": np.bincount(form.seats, minlength=players).tolist(),
        "sequences": len(form.actions),
    }


def write_solution(path: Path, solution: Solution, command: str) -> None:
    """Write a solution as JSON, with its equilibrium if that is small."""
    form = solution.form
    result = exploitability(form, solution.profile)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "rules": {"preset": form.rules.name, "players": form.rules.players, **form.rules.fields()},
        "size": size_of(form),
        "range": value_range(form),
        "value": [round(value, DIGITS) for value in result.values.tolist()],
        "nash_conv": float(f"{result.nash_conv:.2e}"),
        "made_by": {
            "command": command,
            "code": f"{__version__}+{source_digest(frozenset({PACKAGE}))}",
            "method": f"CFR+, {solution.rounds} rounds",
            "seconds": round(solution.seconds),
        },
    }
    if len(form.seats) <= MOST_STATES_KEPT:
        content["equilibrium"] = list(_strategies(form, solution.profile))
    with atomic_file(path) as file:
        file.write(json.dumps(content, indent=1) + "\n")


def read_solution(name: str, players: int = 2) -> dict[str, Any]:
    """Return the published solution of a mini game."""
    path = DATA / f"{name}-{players}.json"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in DATA.glob("*.json")))
        raise SolutionError(f"there is no solution of {name} for {players} players; known: {known}")
    return json.loads(path.read_text("utf-8"))


def _strategies(form: Form, profile: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield, for every information state, the seat, what it has seen and its probabilities."""
    for state, view in enumerate(form.views):
        own = range(form.firsts[state], form.firsts[state + 1])
        yield {
            "seat": int(form.seats[state]),
            "seen": _in_words(view),
            "plays": {
                str(MOVES[form.actions[sequence]]): round(float(profile[sequence]), DIGITS)
                for sequence in own
            },
        }


def _in_words(view: np.void) -> str:
    """Return a view as text: the hand, then the plays and draws in the order they were made."""
    public, events = view["public"], list[str]()
    for ply in range(public["plies"] + 1):
        drawn = [k for k in range(public["drawn"]) if public["draw_ply"][k] == ply]
        events += [f"{public['draw_seat'][k]} draws {_tile_drawn(view, k)}" for k in drawn]
        if ply < public["plies"]:
            events.append(f"{public['play_seat'][ply]} plays {MOVES[public['play_action'][ply]]}")
    return "; ".join([" ".join(map(str, tiles_in(int(view["hand"])))), *events])


def _tile_drawn(view: np.void, k: int) -> str:
    """Return the k-th tile drawn, or "a tile" if the seat of the view did not draw it."""
    tile = int(view["drawn"][k])
    return "a tile" if tile < 0 else str(next(tiles_in(1 << tile)))
