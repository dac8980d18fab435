"""`policy+search`: a trained policy that looks ahead before it plays.

Worlds are drawn from the exact belief. In each of them, every action that the policy does not rule
out is tried, and a heuristic plays the hand out. With `playout=policy`, all seats instead play on
as the policy does, until it is the viewer's turn again with a choice. The value of the action in
that world is then what was won on the way and what the network expects there: a better judgement,
in far fewer worlds. The actions of a world share its chance, so they differ only by what they lead
to.

The action chosen maximizes

    mean over the worlds + trust * noise * log(probability by the policy)

where `noise` is the standard error of such means, estimated from their differences. Few worlds, or
worlds that disagree, leave the choice to the policy; many worlds that agree override it. By
default, `trust` falls as `worlds` rises. With `weighed`, the worlds that are tried are drawn from
more, by how likely the others' moves were in them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import is_one_of
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Struct, compiled, inlined
from fiveup_env.engine.legality import legal_count, nth_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.engine.view import VIEW, as_views, observe_seats
from fiveup_env.errors import AgentError, shown, unknown
from fiveup_env.opponents.outlook import hand_value
from fiveup_env.opponents.policy import PolicyAgent
from fiveup_env.opponents.policy_files import PATHS, PolicyError
from fiveup_env.opponents.units import AIMS, Units, settings_in
from fiveup_env.opponents.world_search import (
    PLAYOUTS,
    Search,
    WorldSearch,
    check_weighed,
    playout_of,
)
from fiveup_env.opponents.world_statistics import WorldStatistics
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

_S11: Final = np.uint64(11)
ITSELF: Final = "policy"
# The defaults, tuned together in games of `policy:partners`.
USUAL_WORLDS: Final = 550
USUAL_TRUST: Final = 1.3

# One action, tried in one world.
TRIAL = np.dtype(
    [
        ("root", np.int64),  # the index of the view whose action it is
        ("world", np.int64),
        ("rank", np.int64),  # of the action among the view's candidates
        ("seat", np.int8),  # of the viewer
        ("rounds", np.int64),  # the viewer's choices before the leaf; below 1: no leaf
    ],
    align=True,
)


@dataclass
class PolicySearch:
    """Plays a trained policy that looks ahead in sampled worlds: `policy+search:FOLDER`."""

    path: str = field(
        default="shipped",
        metadata={"help": PATHS},
    )
    worlds: int = field(default=USUAL_WORLDS, metadata={"help": "worlds per decision, 2 or more"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(
        default="greedy",
        metadata={"help": "what plays on: policy, or a heuristic to the hand's end"},
    )
    trust: float | None = field(
        default=None,
        metadata={
            "help": "weight of the policy against noise; if left out, "
            f"{USUAL_TRUST} * sqrt({USUAL_WORLDS} / worlds), or {USUAL_TRUST} with ms"
        },
    )
    least: float = field(
        default=0.05, metadata={"help": "probability below which no action is tried"}
    )
    weighed: int = field(
        default=8,
        metadata={"help": "worlds weighed by the others' moves for each that is tried; 1: none"},
    )
    rounds: int = field(
        default=1,
        metadata={"help": "own turns that playout=policy looks ahead; 0: the whole hand"},
    )
    temperature: float = field(default=1.0, metadata={"help": "temperature of playout=policy"})

    def __post_init__(self) -> None:
        """Load the policy; raise AgentError if an option is out of range."""
        if self.worlds < 2 or self.ms < 0 or self.rounds < 0 or (self.trust or 0) < 0:
            raise AgentError("policy+search needs worlds=2 or more, and no option below 0")
        check_weighed(self.weighed)
        if not 0 < self.temperature < float("inf"):
            raise AgentError(f"temperature must be above 0, not {self.temperature}")
        if not 0 <= self.least < 1:
            raise AgentError(f"least must be a probability from 0 to below 1, not {self.least}")
        if self.playout not in (ITSELF, *PLAYOUTS):
            raise AgentError(unknown("playout", self.playout, (ITSELF, *PLAYOUTS)))
        self.last_effective_worlds = np.zeros(0)  # by view; NaN where there was no choice
        worlds = USUAL_WORLDS if self.ms else self.worlds
        fitting = USUAL_TRUST * math.sqrt(USUAL_WORLDS / worlds)
        self._trust = fitting if self.trust is None else self.trust
        self._budget = Search(self.worlds, self.ms)
        self._playout = None if self.playout == ITSELF else playout_of(self.playout)
        self._policy = self._load()
        self._reward = reward_of(self._policy.about)

    def _load(self) -> Any:
        """Return the policy; `torch+search` loads another kind."""
        return PolicyAgent(self.path)

    @property
    def aim(self) -> str:
        """The unit of its values: points (`hand`) or chances to win (`game`)."""
        return AIMS[self._reward]

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        began, views = time.perf_counter(), as_views(views)
        return self._scores(views, masks, random, Units(views, self._reward), began).argmax(1)

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the score of every action, in the units of `pimc` with the same aim.

        It is -inf where the action is not allowed, ruled out by the policy, or clearly worse. If
        only one action is not ruled out, its score is what the network expects.
        """
        began, views = time.perf_counter(), as_views(views)
        units = Units(views, self._reward)
        scores = self._scores(views, masks, random, units, began)
        alone = np.isnan(self.last_effective_worlds)
        expected = self._policy.values(views[alone])
        scores[alone] += units.part(alone).values(expected)[:, None]
        return scores

    def _scores(
        self,
        views: np.ndarray,
        masks: np.ndarray,
        random: np.random.Generator,
        units: Units,
        began: float,
    ) -> np.ndarray:
        """Return the score of every action; 0 for the only one that is not ruled out."""
        key = np.uint64(random.integers(1 << 63))
        shares = self._policy.probabilities(views, masks)
        tried = (shares >= self.least) & (masks > 0)
        tried[np.arange(len(views)), shares.argmax(1)] = True
        floor = np.finfo(shares.dtype).tiny
        logs = np.where(tried, np.log(np.maximum(shares, floor)), -np.inf)
        statistics = WorldStatistics(logs, self._trust)
        itself = partial(self._play_on, views, units)
        search = WorldSearch(self._budget, self._playout or itself, self.weighed)
        found = search(views, statistics, (units.chances, units.which), key, began)
        self.last_effective_worlds = found.effective_worlds
        return found.scores

    def _play_on(
        self,
        views: np.ndarray,
        units: Units,
        which: np.ndarray,
        games: np.ndarray,
        candidates: np.ndarray,
    ) -> np.ndarray:
        """Return the values of the open candidates in worlds, where the policy plays on."""
        trials = np.zeros(candidates["open"].sum() * games.shape[1], TRIAL)
        tried = np.empty(len(trials), GAME)
        set_up(games, views["seat"][which], candidates, self.rounds, trials, tried)
        live, seats = np.arange(len(tried)), np.empty(len(tried), np.int8)
        while left := find_decisions(tried, trials, live, seats):
            live = live[:left]
            shares = self._policy.probabilities(*views_of(tried, live, seats[:left]))
            shares = (shares / shares.max(1, keepdims=True)) ** (1 / self.temperature)
            move_by_chance(tried, live, shares)
        expected = np.zeros(len(tried))
        leaves = np.flatnonzero(tried["public"]["phase"] == PLAYING)
        seen, _ = views_of(tried, leaves, trials["seat"][leaves])
        expected[leaves] = self._policy.values(seen) / units.scale
        values = np.zeros((*games.shape, candidates.shape[1]))
        starts = units.starts[which]
        write_values(
            tried, trials, views[which], units.chances, units.which[which], starts, expected, values
        )
        return values


def reward_of(about: Mapping[str, Any]) -> str:
    """Return the reward that a policy was trained on, by its metadata; "margin" if not stated."""
    settings = settings_in(about)
    reward, horizon = settings["reward"], settings["horizon"]
    if not is_one_of(reward, AIMS) or horizon != "hand":
        raise PolicyError(
            "policy+search needs a policy with values of the hand, trained with horizon=hand and "
            f"reward={' or '.join(AIMS)}, not {shown(horizon)} and {shown(reward)}"
        )
    return str(reward)


def views_of(
    games: np.ndarray, which: np.ndarray, seats: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the views of a seat in each of some games, and its action masks."""
    views, masks = np.empty(len(which), VIEW), np.empty((len(which), ACTION_COUNT), np.int8)
    observe_seats(games, which, seats, views, masks)
    return views, masks


# --- Compiled


@compiled
def set_up(
    worlds: Array, seats: Array, candidates: Array, rounds: int, trials: Array, games: Array
) -> None:
    """Set up a trial of every open candidate of every view in each of its worlds."""
    k = 0
    for i in range(len(worlds)):
        for w in range(worlds.shape[1]):
            for rank in range(candidates.shape[1]):
                if candidates[i, rank].open:
                    trial = trials[k]
                    trial.root, trial.world, trial.rank = i, w, rank
                    trial.seat, trial.rounds = seats[i], rounds
                    games[k] = worlds[i, w]
                    play(games[k], candidates[i, rank].action)
                    k += 1


@compiled
def find_decisions(games: Array, trials: Array, live: Array, seats: Array) -> int:
    """Play the live games on until somebody has a choice.

    Games that reach their leaf are no longer live. The others are moved to the front of `live`,
    with the seats to move in `seats`; return how many they are.
    """
    n = 0
    for k in range(len(live)):
        game, trial = games[live[k]], trials[live[k]]
        play_forced(game)
        if game.public.phase == PLAYING:
            trial.rounds -= game.public.turn == trial.seat
            if game.public.turn != trial.seat or trial.rounds != 0:
                live[n], seats[n] = live[k], game.public.turn
                n += 1
    return n


@inlined
def play_forced(game: Struct) -> None:
    """Make moves while only one is allowed."""
    public = game.public
    while legal_count(public, game.hands[public.turn]) == 1:
        play(game, nth_legal(public, game.hands[public.turn], 0))


@compiled
def move_by_chance(games: Array, live: Array, shares: Array) -> None:
    """Draw an action by its share in every live game, and make it.

    Every action is given an exponential waiting time, and the first to come is made. An action at a
    given ply draws the same random number in all trials of a world, so trials diverge only where
    their probabilities do.
    """
    for k in range(len(live)):
        game = games[live[k]]
        chance = scramble(game.seed + np.uint64(game.public.plies))
        first, soonest = -1, np.inf
        for action in range(ACTION_COUNT):
            if shares[k, action] > 0:
                word = scramble(chance + np.uint64(action))
                wait = -np.log((np.float64(word >> _S11) + 0.5) * 2.0**-53) / shares[k, action]
                if wait < soonest:
                    first, soonest = action, wait
        play(game, first)


@compiled
def write_values(
    games: Array,
    trials: Array,
    views: Array,
    chances: Array,
    which: Array,
    starts: Array,
    expected: Array,
    values: Array,
) -> None:
    """Write the value of every trial: of the hand's end, or of its leaf.

    At a leaf, what is expected there is added to the points won so far, or to the chance to win at
    the start of the hand.
    """
    for k in range(len(games)):
        i, public = trials[k].root, games[k].public
        value = expected[k]
        if public.phase != PLAYING or chances.size == 0:
            side = side_of(public.rules, trials[k].seat)
            value += hand_value(public, views[i].public, side, chances[which[i]])
        else:
            value += starts[i]
        values[i, trials[k].world, trials[k].rank] = value
