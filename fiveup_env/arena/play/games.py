"""Two agents on a chunk of deals: all its games are played side by side.

Every deal is played under all seat assignments: partners both ways, others in all rotations. Hand k
of a deal stream (a game's seed) is the same deal for everybody, so luck cancels out.

The results of a chunk depend on its seeds and its two agents alone: each agent's generator is keyed
by the chunk's first seed and the agent's place in the pair.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fiveup_env.analysis.trials import REFERENCE, Trials, checked_reference, shortfalls
from fiveup_env.arena.play.apart import Apart
from fiveup_env.arena.play.clock import AwakeClock, processor_time
from fiveup_env.arena.play.faults import ArenaError, fault, replayed
from fiveup_env.arena.play.tally import FIRST, NOBODY, SECOND, TALLY, advance, queue_games
from fiveup_env.engine.legality import is_legal_at
from fiveup_env.engine.state import GAME, GAME_OVER, VIEW
from fiveup_env.engine.view import observe_seats, unchecked_masks
from fiveup_env.envs.episodes import EPISODES, first_illegal, refusal, start_episodes
from fiveup_env.errors import ModelError, OptionError, shown, unknown
from fiveup_env.game.records import dumps
from fiveup_env.opponents.mixtures import shares_of
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.rules.fields import MAX_PLAYERS, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fiveup_env.game.game import Game
    from fiveup_env.opponents.agent import Agent

CHUNK = 256  # deals that are played side by side
JUDGE_EVERY = 8  # decisions are judged on every eighth deal: judging takes longer than playing


def term(default: Any, **option: Any) -> Any:
    """Return a field that `fiveup evaluate` has an option for, with what `argparse` is told of it.

    The header of a results file is made from the same fields, so that none is forgotten there.
    """
    return field(default=default, metadata=option)


@dataclass(frozen=True)
class Terms:
    """How games are played, in every chunk of a tournament."""

    rules: Rules
    episode: str = term("game", choices=EPISODES, help="default: game")
    judge: str | None = term(
        None,
        nargs="?",
        const=REFERENCE,
        metavar="SPEC",
        help=f"judge decisions by a search ({REFERENCE})",
    )
    judge_every: int = term(
        JUDGE_EVERY,
        type=int,
        metavar="N",
        help=f"judge the decisions of every n-th deal (default: {JUDGE_EVERY})",
    )
    move_limit: float = term(
        math.inf,
        type=float,
        metavar="SECONDS",
        help="seconds allowed for a decision (default: no limit)",
    )
    forfeit: bool = term(
        default=False,
        action="store_true",
        help="an agent at fault loses its game, and play goes on",
    )
    record: bool = False  # whether to keep the record of every game
    apart: str | None = None  # spec of the agent to isolate; only its decisions are judged

    def __post_init__(self) -> None:
        """Refuse an unknown episode and a limit that is not positive."""
        if self.episode not in EPISODES:
            raise OptionError(unknown("episode", self.episode, EPISODES))
        if not self.move_limit > 0:
            raise ArenaError(f"--move-limit must be more than 0 seconds, not {self.move_limit}")
        if self.judge is not None:
            checked_reference(self.judge)
        if self.judge_every < 1:
            raise ArenaError(f"--judge-every must be at least 1, not {self.judge_every}")


@dataclass(frozen=True)
class Task:
    """Two agents and the deals on which they meet; the first plays one side, the other the rest."""

    agents: tuple[str, str]  # specs
    first: int  # deal stream
    deals: int

    @property
    def seeds(self) -> np.ndarray:
        """The deal streams, each the seed of a game."""
        return np.uint64(self.first) + np.arange(self.deals, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Played:
    """The results of a chunk: a row for every game, the seatings of a deal one after the other."""

    scores: np.ndarray  # by side
    hands: np.ndarray  # the number played
    forfeits: np.ndarray  # the agent that forfeited the game, or NOBODY
    tally: np.ndarray  # one TALLY struct
    decisions: np.ndarray  # by agent
    seconds: np.ndarray = field(default_factory=lambda: np.zeros(2))  # by agent; not repeatable
    # By deal and agent: decisions that were judged, the chances and the points that they lost.
    judged: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 3)))
    records: tuple[str, ...] = ()
    faults: tuple[str, ...] = ("", "")  # by agent: why it first forfeited a game, if it did
    usage: tuple[Mapping[str, int], ...] = ({}, {})  # by agent: what it counts, such as tokens


class Request(NamedTuple):
    """An announcement that an agent is about to be asked for moves."""

    agent: int
    games: np.ndarray  # their indices
    last: Moves | None  # the latest moves made, if any


class Moves(NamedTuple):
    """Actions that were taken together, each in its own game."""

    games: np.ndarray
    actions: np.ndarray


def seatings(rules: Rules) -> np.ndarray:
    """Return the agent in each seat, FIRST or SECOND: a row for each game of a deal.

    With more than two sides the first agent plays one side, the second all others.
    """
    sides = np.array([rules.side_of(seat) for seat in range(rules.players)])
    return np.array([np.where(sides == own, FIRST, SECOND) for own in range(rules.sides)])


def play_chunk(
    agents: Sequence[Agent | Apart],
    names: Sequence[str],
    terms: Terms,
    seeds: np.ndarray,
    announce: Callable[[Request | None], None] | None = None,
) -> Played:
    """Play two agents on the deals of these seeds.

    `names` are the agents' names in messages; `announce` is called before every decision,
    and with None after it.
    """
    return _Chunk(agents, names, terms, seeds, announce).play()


def all_forfeited(terms: Terms, deals: int, agent: int, why: str) -> Played:
    """Return the results of a chunk whose agent was killed: it forfeits every game."""
    games = deals * terms.rules.sides
    return Played(
        scores=np.zeros((games, terms.rules.sides), np.int64),
        hands=np.ones(games, np.int64),
        forfeits=np.full(games, agent),
        tally=np.zeros(1, TALLY),
        decisions=np.zeros(2, np.int64),
        judged=np.zeros((deals, 2, 3)),
        faults=tuple(why if k == agent else "" for k in range(2)),
    )


def moves_by_game(log: Sequence[Moves], games: int) -> list[list[int]]:
    """Return the actions taken in each game, in order."""
    moves: list[list[int]] = [[] for _ in range(games)]
    for moved, actions in log:
        for i, action in zip(moved.tolist(), actions.tolist(), strict=True):
            moves[i].append(action)
    return moves


class _Chunk:
    """The games of a chunk in play; `games_i` holds the indices of some of them."""

    def __init__(
        self,
        agents: Sequence[Agent | Apart],
        names: Sequence[str],
        terms: Terms,
        seeds: np.ndarray,
        announce: Callable[[Request | None], None] | None,
    ) -> None:
        self.agents, self.names, self.terms, self.announce = agents, names, terms, announce
        ways = seatings(terms.rules)
        self.seated = np.tile(ways, (len(seeds), 1)).astype(np.int8)
        self.seeds = np.repeat(seeds, len(ways)).astype(np.uint64)
        count = len(self.seated)
        self.games = np.zeros(count, GAME)
        self.games["public"]["rules"] = terms.rules.to_struct()
        start_episodes(self.games, np.arange(count), self.seeds)
        self.bases = np.zeros((count, MAX_PLAYERS), np.int32)
        self.log: list[Moves] = []
        self.faults, self.usage = ["", ""], [Counter[str](), Counter[str]()]
        self.trials = Trials(terms.judge) if terms.judge else None
        self.keys = keyed_rng("judge", int(seeds[0]))
        self.rngs = [keyed_rng("arena", int(seeds[0]), place) for place in range(2)]
        self.round = 0
        self.clock = AwakeClock() if terms.move_limit < math.inf else None
        self.played = Played(
            scores=np.zeros(0),
            hands=np.zeros(0),
            forfeits=np.full(count, NOBODY),
            tally=np.zeros(1, TALLY),
            decisions=np.zeros(2, np.int64),
            judged=np.zeros((len(seeds), 2, 3)),
        )

    def play(self) -> Played:
        """Play all games to their ends, and return the results."""
        with self.clock or nullcontext():
            self.play_on()
        public, sides = self.games["public"], self.terms.rules.sides
        return replace(
            self.played,
            scores=public["scores"][:, :sides].astype(np.int64),
            hands=public["hand_number"].astype(np.int64) + 1,
            records=self.records() if self.terms.record else (),
            faults=tuple(self.faults),
            usage=tuple(map(dict, self.usage)),
        )

    def play_on(self) -> None:
        """Play all games to their ends."""
        going, queues = np.arange(len(self.games)), np.empty((2, len(self.games)), np.int64)
        while len(going):
            left, *asked = queue_games(self.games, going, self.seated, queues)
            going = going[:left]
            for agent in (FIRST, SECOND):
                if asked[agent]:
                    self.ask(agent, queues[agent, : asked[agent]].copy())
            self.round += 1

    @cached_property
    def chances(self) -> np.ndarray:
        """The keys that draw the members of mixtures: a number for each deal and agent."""
        seeds = self.seeds[:: self.terms.rules.sides].tolist()
        return np.array([keyed_rng("mixture", seed).random(2) for seed in seeds])

    def ask(self, agent: int, games_i: np.ndarray) -> None:
        """Let an agent move in some games; one that plays apart is asked part by part.

        A mixture has one member in all games of a deal.
        """
        asked = self.agents[agent]
        if not isinstance(asked, Apart):
            deals = games_i // self.terms.rules.sides
            for member, games in shares_of(asked, len(deals), lambda: self.chances[deals, agent]):
                self.decide(agent, member, games_i[games], self.rngs[agent])
            return
        ways, seats = games_i % self.terms.rules.sides, self.games["public"]["turn"][games_i]
        for way, seat in sorted(set(zip(ways.tolist(), seats.tolist(), strict=True))):
            part = games_i[(ways == way) & (seats == seat)]
            rng = keyed_rng("apart", int(self.seeds[0]), agent, self.round, way, seat)
            self.decide(agent, asked.part(way, seat), part, rng)

    def decide(
        self, agent: int, asked: Agent, games_i: np.ndarray, rng: np.random.Generator
    ) -> None:
        """Ask an agent for its actions in some games, and make these moves."""
        views = np.zeros(len(games_i), VIEW)  # the agent's own, to keep or to write into
        turns = self.games["public"]["turn"][games_i].astype(np.int64)
        observe_seats(self.games, games_i, turns, views)
        if self.announce:
            self.announce(Request(agent, games_i, self.log[-1] if self.log else None))
        before, used = self.time_of(asked), Counter(getattr(asked, "usage", {}))
        try:
            actions = np.asarray(asked(views, rng))
            after = self.time_of(asked)
        except ModelError:  # nothing of its play: the run ends, and can be continued
            raise
        except Exception as error:  # noqa: BLE001  (whatever it raises, the agent is named)
            self.blame(agent, games_i, f"raised {type(error).__name__}: {error}")
            return
        finally:
            if self.announce:
                self.announce(None)
        self.usage[agent] += Counter(getattr(asked, "usage", {})) - used
        wall, processor = after[0] - before[0], after[1] - before[1]
        apart = isinstance(self.agents[agent], Apart) and processor > 0
        self.played.seconds[agent] += processor if apart else wall
        seconds = max(wall, processor)
        self.played.decisions[agent] += len(games_i)
        if seconds > self.terms.move_limit * len(games_i):
            took = f"took {seconds / len(games_i):.3g} seconds a decision"
            self.blame(agent, games_i, f"{took}; {self.terms.move_limit:g} are allowed")
        else:
            self.move(agent, games_i, actions)

    def time_of(self, asked: Agent) -> tuple[float, float]:
        """Return the time, and if it is limited the processor time of an agent's process."""
        if self.clock is None:
            return time.perf_counter(), 0.0
        return self.clock.now(), processor_time(getattr(asked, "pid", None))

    def move(self, agent: int, games_i: np.ndarray, actions: np.ndarray) -> None:
        """Make the legal moves of an agent, and blame it for the others."""
        if actions.shape != games_i.shape or actions.dtype.kind not in "iu":
            given = "NaN" if actions.dtype.kind == "f" and np.isnan(actions).any() else "an array"
            self.blame(
                agent,
                games_i,
                f"returned {given} of {actions.dtype} of shape {actions.shape}; {len(games_i)} "
                "views need one integer each",
            )
            return
        actions = actions.astype(np.int64)
        if first_illegal(self.games, games_i, actions) >= 0:
            allowed = [
                is_legal_at(self.games, *pair) for pair in zip(games_i, actions, strict=True)
            ]
            wrong = np.flatnonzero(np.logical_not(allowed))
            why = refusal(self.games, int(games_i[wrong[0]]), int(actions[wrong[0]]))
            self.blame(agent, games_i[wrong], f"made an illegal move: {why}")
            games_i, actions = games_i[allowed], actions[allowed]
        if self.trials:
            self.judge(self.trials, agent, games_i, actions)
        self.log.append(Moves(games_i, actions))
        one_hand = self.terms.episode == "hand"
        advance(self.games, games_i, actions, self.seated, self.bases, one_hand, self.played.tally)

    def judge(self, trials: Trials, agent: int, games_i: np.ndarray, actions: np.ndarray) -> None:
        """Add up what decisions lose, on some of the deals."""
        deals = games_i // self.terms.rules.sides
        some = np.flatnonzero(deals % self.terms.judge_every == 0)
        views = np.zeros(len(some), VIEW)
        turns = self.games["public"]["turn"][games_i[some]].astype(np.int64)
        observe_seats(self.games, games_i[some], turns, views)
        masks = unchecked_masks(views)
        choices = np.flatnonzero(masks.sum(1) > 1)
        keys = [int(self.keys.integers(1 << 63)) for _ in choices]
        if self.terms.apart not in {None, self.names[agent]}:
            return
        for k, key in zip(choices, keys, strict=True):
            allowed = masks[k].nonzero()[0]
            outcomes = trials(views[k : k + 1], allowed, key)
            lost = shortfalls(outcomes, int(np.searchsorted(allowed, actions[some[k]])))
            self.played.judged[deals[some[k]], agent] += 1, lost[0].mean, lost[1].mean

    def blame(self, agent: int, games_i: np.ndarray, why: str) -> None:
        """Make an agent forfeit some games, or raise an ArenaError that reports its fault."""
        if not self.terms.forfeit:
            i = int(games_i[0])
            game = self.replayed(i, moves_by_game(self.log, len(self.games))[i])
            raise ArenaError(fault(self.names[agent], why, game))
        self.faults[agent] = self.faults[agent] or shown(why, str)
        self.played.forfeits[games_i] = agent
        self.games["public"]["phase"][games_i] = GAME_OVER

    def records(self) -> tuple[str, ...]:
        """Return the record of every game."""
        moves = moves_by_game(self.log, len(self.games))
        return tuple(dumps(self.replayed(i, actions)) for i, actions in enumerate(moves))

    def replayed(self, i: int, actions: Sequence[int]) -> Game:
        return replayed(self.terms.rules, int(self.seeds[i]), actions)
