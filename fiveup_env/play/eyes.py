"""Eyes on demand: what an adviser, exact beliefs and playouts see from one seat.

All of them are given the view of the seat, so they tell nothing that the seat could not work out.
"""

from __future__ import annotations

import inspect
import math
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fiveup_env.analysis.chances import chance_of
from fiveup_env.analysis.trials import CHANCE, POINTS, Trials
from fiveup_env.belief import BONEYARD, count, marginals
from fiveup_env.engine.view import legal_masks
from fiveup_env.errors import AgentError, shown
from fiveup_env.opponents.action_probabilities import Mixed
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.pimc import Pimc
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.tiles import TILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.files import Json
    from fiveup_env.opponents.agent import Agent

ADVISER: Final = "pimc:worlds=1000,playout=partner"
CALLS: Final = 8  # how often a searching policy is asked, to see how far its answers differ


class Advice(NamedTuple):
    """What an adviser says of every legal move, the best first, and what its numbers are."""

    unit: str  # "chance to win", "probability" or "value"
    moves: list[Json]


def advice_of(
    spec: str,
    view: np.ndarray,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Advice:
    """Return what the legal moves are worth to an adviser: a `pimc`, a policy or a search.

    `check` is called before every search, and may raise what ends them. Raises AgentError for
    agents that put no number on their moves.
    """
    adviser, actions = make_agent(spec), legal_masks(view)[0].nonzero()[0]
    if isinstance(adviser, Pimc) and adviser.weighed == 1 and not adviser.ms:
        found = Trials(adviser)(view, actions, seed)
        means, errors = found.mean(0), found.std(0, ddof=1) / math.sqrt(len(found))
        rows = [
            {"value": means[k, CHANCE], "error": errors[k, CHANCE], "points": means[k, POINTS]}
            for k in range(len(actions))
        ]
        return _advice("chance to win", actions, rows)
    if isinstance(adviser, Mixed):
        shares = adviser.probabilities(view)[0]
        return _advice("probability", actions, [{"value": shares[action]} for action in actions])
    return _advice("value", actions, _searched(spec, adviser, view, actions, seed, check))


def _searched(
    spec: str,
    adviser: Agent,
    view: np.ndarray,
    actions: np.ndarray,
    seed: int,
    check: Callable[[], None],
) -> list[Json]:
    search = _checked(getattr(adviser, "values", None), check)
    if search is None or len(inspect.signature(search).parameters) != 2:
        raise AgentError(
            f"{shown(spec)} puts no number on its moves; ask a search such as {ADVISER}, or a "
            "policy that reports its probabilities"
        )
    rng = keyed_rng("study", seed)
    calls = np.stack([search(view, rng)[0] for _ in range(CALLS)])
    means = calls[:, actions].mean(0)
    with np.errstate(invalid="ignore"):  # a search may rule actions out: those are -inf
        errors = calls[:, actions].std(0, ddof=1) / math.sqrt(CALLS)
    return [
        {"value": mean, "error": error} if math.isfinite(mean) else {}
        for mean, error in zip(means, errors, strict=True)
    ]


def _checked(search: Any, check: Callable[[], None]) -> Any:
    """Return a search that calls `check` first."""
    if search is None:
        return None

    @wraps(search)
    def checked(*given: Any) -> Any:
        check()
        return search(*given)

    return checked


def _advice(unit: str, actions: np.ndarray, rows: list[Json]) -> Advice:
    moves = [
        {"move": str(MOVES[action])} | {name: round(float(row[name]), 4) for name in row}
        for action, row in zip(actions.tolist(), rows, strict=True)
        if row
    ]
    return Advice(unit, sorted(moves, key=lambda row: -row["value"]))


def hidden_of(view: np.ndarray) -> Json:
    """Return how many worlds are left, and where each hidden tile may be.

    A row for every other seat and for the boneyard has the probability of each hidden tile.
    """
    public, seat = view[0]["public"], int(view[0]["seat"])
    shares, players = marginals(view), int(public["rules"]["players"])
    others = [other for other in range(players) if other != seat]
    held = shares[[*others, BONEYARD]]
    tiles = np.flatnonzero(held.sum(0) > 0).tolist()
    return {
        "worlds": str(count(view)),  # of up to 64 bits, too many for a number in JavaScript
        "tiles": [str(TILES[tile]) for tile in tiles],
        "rows": [
            {"seat": place, "shares": [round(float(share), 4) for share in row[tiles]]}
            for place, row in zip([*others, None], held, strict=True)
        ],
    }


def outlook_of_view(spec: str, view: np.ndarray, seed: int = 0) -> Json:
    """Return the chance to win of the viewer's side, by playouts, with its standard error."""
    mean, error = chance_of(view, Trials(spec), seed)
    return {"value": round(mean, 4), "error": round(error, 4)}
