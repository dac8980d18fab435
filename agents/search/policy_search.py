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
worlds that disagree, leave the choice to the policy; many worlds that agree override it. With
`likely`, worlds are weighted by how likely the policy finds the moves that others made in them, to
which the exact belief gives no weight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.policies.agent import PolicyAgent
from agents.policies.files import PolicyError
from agents.policies.units import AIMS, Units, settings_in
from agents.search.move_likelihood import log_likelihoods, views_of
from agents.search.world_statistics import WorldStatistics
from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import fill_worlds
from fiveup_env.checks import is_one_of
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.legality import legal_count, nth_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.errors import AgentError, shown, unknown
from fiveup_env.opponents.features import SCRATCH
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.outlook import hand_value
from fiveup_env.opponents.pimc import Search, block_key
from fiveup_env.opponents.playouts import play_out
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

_S11: Final = np.uint64(11)
ITSELF: Final = "policy"

# One action, tried in one world.
TRIAL = np.dtype(
    [
        ("root", np.int64),  # the index of the view whose action it is
        ("world", np.int64),
        ("action", np.int64),  # its rank among the view's actions, by the policy
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
        metadata={"help": "shipped, family or a policy's folder"},
    )
    worlds: int = field(default=1000, metadata={"help": "worlds per decision, 2 or more"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(
        default="partner",
        metadata={"help": "what plays on: policy, or a heuristic to the hand's end"},
    )
    trust: float = field(default=1.0, metadata={"help": "weight of the policy against noise"})
    least: float = field(
        default=0.01, metadata={"help": "probability below which no action is tried"}
    )
    likely: float = field(
        default=0.0, metadata={"help": "1: weight worlds by how likely the moves of others are"}
    )
    rounds: int = field(
        default=1,
        metadata={"help": "own turns that playout=policy looks ahead; 0: the whole hand"},
    )
    temperature: float = field(default=1.0, metadata={"help": "temperature of playout=policy"})
    device: str = field(default="cpu", metadata={"help": "cpu or cuda"})

    def __post_init__(self) -> None:
        """Load the policy; raise AgentError if an option is out of range."""
        if self.worlds < 2 or self.ms < 0 or self.rounds < 0 or self.trust < 0:
            raise AgentError("policy+search needs worlds=2 or more, and no option below 0")
        if not 0 < self.temperature < float("inf"):
            raise AgentError(f"temperature must be above 0, not {self.temperature}")
        if not 0 <= self.least < 1:
            raise AgentError(f"least must be a probability from 0 to below 1, not {self.least}")
        if self.playout not in (ITSELF, *LADDER):
            raise AgentError(unknown("playout", self.playout, (ITSELF, *LADDER)))
        self.last_effective_worlds = np.zeros(0)  # by view; NaN where there was no choice
        self._budget = Search(self.worlds, self.ms)
        self._policy = PolicyAgent(self.path, device=self.device)
        self._reward = reward_of(self._policy.about)

    @property
    def aim(self) -> str:
        """The unit of its values: points (`hand`) or chances to win (`game`)."""
        return AIMS[self._reward]

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        return self._scores(views, masks, random, Units(views, self._reward)).argmax(1)

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the score of every action, in the units of `pimc` with the same aim.

        It is -inf where the action is not allowed, ruled out by the policy, or clearly worse. If
        only one action is not ruled out, its score is what the network expects.
        """
        units = Units(views, self._reward)
        scores = self._scores(views, masks, random, units)
        alone = np.isnan(self.last_effective_worlds)
        scores[alone] += self._policy.values(views[alone])[:, None]
        return units.values(scores)

    def _scores(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator, units: Units
    ) -> np.ndarray:
        """Return the scores in the network's units; 0 for the only action that is not ruled out."""
        key = np.uint64(random.integers(1 << 63))
        shares = self._policy.probabilities(views, masks)
        tried = (shares >= self.least) & (masks > 0)
        tried[np.arange(len(views)), shares.argmax(1)] = True
        values = np.where(tried, 0.0, -np.inf)
        which = np.flatnonzero(tried.sum(1) > 1)
        self.last_effective_worlds = np.full(len(views), np.nan)
        if len(which):
            actions = np.argsort(-shares[which], 1, kind="stable")[:, : tried[which].sum(1).max()]
            rows = which[:, None]
            logs = np.log(np.maximum(shares[rows, actions], np.finfo(shares.dtype).tiny))
            statistics = WorldStatistics(logs, tried[rows, actions], self.trust)
            self._search(views[which], actions, statistics, key, units.part(which))
            self.last_effective_worlds[which] = statistics.effective_worlds
            values[rows, actions] = statistics.scores
        return values

    def _search(
        self,
        views: np.ndarray,
        actions: np.ndarray,
        statistics: WorldStatistics,
        key: Word,
        units: Units,
    ) -> None:
        """Add one block of worlds after another to the statistics, while views are undecided."""
        for block, worlds in enumerate(self._budget.blocks(len(views))):
            if not statistics.open.any():
                break
            games = np.zeros((len(views), worlds), GAME)
            deal_worlds(views, key, block, np.zeros(1, BELIEF), games)
            values = self._try_all(views, games, actions, statistics.open, units)
            statistics.add(values, self._likelihoods(views["seat"], games, statistics.open.any(1)))

    def _likelihoods(
        self, seats: np.ndarray, games: np.ndarray, undecided: np.ndarray
    ) -> np.ndarray:
        """Return the log-likelihoods of the worlds of undecided views, by the moves of others.

        Without `likely` they are all 0.
        """
        logs = np.zeros(games.shape)
        if self.likely:
            seats = seats[undecided].repeat(games.shape[1])
            found = log_likelihoods(self._policy, games[undecided].ravel(), seats)
            logs[undecided] = self.likely * found.reshape(-1, games.shape[1])
        return logs

    def _try_all(
        self,
        views: np.ndarray,
        worlds: np.ndarray,
        actions: np.ndarray,
        tried: np.ndarray,
        units: Units,
    ) -> np.ndarray:
        """Return the values of the tried actions in every world; 0 for the others."""
        trials = np.zeros(tried.sum() * worlds.shape[1], TRIAL)
        games = np.empty(len(trials), GAME)
        set_up(worlds, views["seat"], actions, tried, self.rounds, trials, games)
        values = np.zeros((*worlds.shape, actions.shape[1]))
        if self.playout == ITSELF:
            found = self._play_on(games, trials)
        else:
            play_all_out(games, weights_of(self.playout), np.zeros(1, SCRATCH))
            found = np.zeros(len(games))
        tables, starts, scale = units.chances, units.starts, units.scale
        write_won(games, trials, views, tables, units.which, starts, scale, found)
        values[trials["root"], trials["world"], trials["action"]] = found
        return values

    def _play_on(self, games: np.ndarray, trials: np.ndarray) -> np.ndarray:
        """Play every game to its leaf by the policy; return what the network expects there."""
        live, seats = np.arange(len(games)), np.empty(len(games), np.int8)
        while left := find_decisions(games, trials, live, seats):
            live = live[:left]
            shares = self._policy.probabilities(*views_of(games, live, seats[:left]))
            shares = (shares / shares.max(1, keepdims=True)) ** (1 / self.temperature)
            move_by_chance(games, live, shares)
        expected = np.zeros(len(games))
        leaves = np.flatnonzero(games["public"]["phase"] == PLAYING)
        views, _ = views_of(games, leaves, trials["seat"][leaves])
        expected[leaves] = self._policy.values(views)
        return expected


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


# --- Compiled


@compiled
def play_all_out(games: Array, weights: Array, scratch: Array) -> None:
    """Play every hand to its end by a heuristic; the trials in a world share its chance."""
    for k in range(len(games)):
        play_out(games[k], weights, scratch[0], games[k].seed)


@compiled
def deal_worlds(views: Array, key: Word, block: int, belief: Array, worlds: Array) -> None:
    """Write worlds [views x worlds] for every view, each ready for the viewer's move."""
    for i in range(len(views)):
        own = block_key(key, i, block)
        fill_worlds(views[i], belief[0], own, worlds[i])
        for w in range(worlds.shape[1]):
            worlds[i, w].public = views[i].public
            worlds[i, w].seed = own + np.uint64(w)  # its chance, shared by all trials in it


@compiled
def set_up(
    worlds: Array,
    seats: Array,
    actions: Array,
    open_: Array,
    rounds: int,
    trials: Array,
    games: Array,
) -> None:
    """Set up a trial of every open action of every view in each of its worlds."""
    k = 0
    for i in range(len(worlds)):
        for w in range(worlds.shape[1]):
            for a in range(actions.shape[1]):
                if open_[i, a]:
                    trial = trials[k]
                    trial.root, trial.world, trial.action = i, w, a
                    trial.seat, trial.rounds = seats[i], rounds
                    games[k] = worlds[i, w]
                    play(games[k], actions[i, a])
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
def write_won(
    games: Array,
    trials: Array,
    views: Array,
    chances: Array,
    which: Array,
    starts: Array,
    scale: float,
    won: Array,
) -> None:
    """Add what every trial has won: points so far, or the change in the chance to win."""
    for k in range(len(games)):
        i, public = trials[k].root, games[k].public
        if public.phase != PLAYING or chances.size == 0:
            side = side_of(public.rules, trials[k].seat)
            value = hand_value(public, views[i].public, side, chances[which[i]])
            won[k] += scale * (value - starts[i])
