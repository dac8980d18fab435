"""Windows of self-play: games that one network plays in all seats, and the advantages of decisions.

Every seat of every game has a trajectory of its own. A decision's reward is all that its seat
received until its next decision, or until the end of the hand or the game. Decisions whose seat has
neither decided again nor reached the end wait for the next window.

Games are played in parts of `PART`, each with its own chance and its own memory for decisions, so
threads may share out parts. A window of a part ends after its ticks, a move in every game each, or
before that when its memory might not hold another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.encoders import flat
from fiveup_env.engine.chance import GOLDEN, fraction, scramble
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import observe
from fiveup_env.envs.episodes import MARGIN, WIN, Codes, start_episode, step_games
from fiveup_env.envs.streams import stream_key, stream_seed
from fiveup_env.learning.decisions import Decisions, drawn, move_decision, write_decision
from fiveup_env.learning.gradients import Memory, evaluate
from fiveup_env.native import Array, Word, inlined, inner, signed
from fiveup_env.opponents.heuristics.hidden import HIDDEN, NOTES
from fiveup_env.opponents.networks import lookahead
from fiveup_env.opponents.search.units import HANDS_IN_A_CHANCE, POINTS_IN_ONE, write_seats_chances
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.seats.advantages import NOBODY, OVER, WAITING, write_advantages

if TYPE_CHECKING:
    from fiveup_env.learning.losses import Targets
    from fiveup_env.learning.networks import Columns
    from fiveup_env.opponents.networks.compiled import Weights

PART: Final = 64  # games
POINTS, CHANCES, WINS = range(3)  # what a side is rewarded for
REWARDS: Final = ("margin", "outlook", "win")
HAND, WHOLE_GAME = range(2)  # what ends a trajectory
_DRAWS: Final = np.uint64(0xC2B2AE3D27D4EB4F)  # the stream of a game's draws among its actions


class Play(NamedTuple):
    """How games are played, and what is learnt from them."""

    ticks: int
    episode: int  # a game or a hand, as in `envs.episodes`
    reward: int
    horizon: int
    forced: bool  # whether moves that were the only one allowed are decisions too
    gamma: float
    gae_lambda: float


class Games(NamedTuple):
    """Games that are played, and what they are in the middle of."""

    states: np.ndarray
    keys: np.ndarray  # of the streams of deals
    episodes: np.ndarray
    moves: np.ndarray  # made so far, in all episodes
    waiting: np.ndarray  # of each seat: its last decision, if it waits, or NOBODY
    chances: np.ndarray  # of each seat to win, at the beginning of the hand
    grids: np.ndarray  # the outlook of each set of rules, which the games take in turn
    rewards: np.ndarray  # of each seat for the last move
    endings: np.ndarray  # whether the last move ended the episode


class Window(NamedTuple):
    """The decisions of a window. Those of part p begin at p x (decisions of a part + 1)."""

    decisions: Decisions
    targets: Targets
    values: np.ndarray
    rewards: np.ndarray  # since each decision
    owners: np.ndarray  # whose it is: the game times MAX_PLAYERS, plus the seat
    following: np.ndarray  # the seat's next decision, OVER or WAITING
    counts: np.ndarray  # the decisions of each part
    logs: np.ndarray  # log-probabilities of actions, when they were computed last


class Seat(NamedTuple):
    """A thread's memory to play."""

    memory: Memory
    views: np.ndarray
    hidden: np.ndarray
    notes: np.ndarray  # what the plays of each game of a part tell
    rows: np.ndarray
    legal: np.ndarray
    asked: np.ndarray  # of each game of a part: its decision, or NOBODY
    indices: np.ndarray  # of the games of a part
    samples: np.ndarray
    actions: np.ndarray
    hands: np.ndarray  # the number of the hand before the move


@inner
def seat_for(memory: Memory, columns: Columns) -> Seat:
    """Return memory to play."""
    return Seat(
        memory,
        np.zeros(1, VIEW),
        np.zeros(1, HIDDEN),
        np.zeros(PART, NOTES),
        np.zeros((1, columns.size), np.int8),
        np.zeros(ACTION_COUNT, np.int64),
        np.zeros(PART, np.int64),
        np.zeros(PART, np.int64),
        np.zeros(PART, np.int64),
        np.zeros(PART, np.int64),
        np.zeros(PART, np.int64),
    )


@inner
def begin_games(games: Games, play: Play, seed: Word) -> None:
    """Deal the first game of every stream, by the rules that the games already have."""
    for g in range(len(games.states)):
        games.keys[g] = stream_key(seed, g)
        for seat in range(MAX_PLAYERS):
            games.waiting[g, seat] = NOBODY
        _begin(games, g, play)


@inlined
def _begin(games: Games, g: int, play: Play) -> None:
    """Deal the first hand of the next episode of a stream."""
    start_episode(games.states[g], stream_seed(games.keys[g], games.episodes[g]))
    if play.reward == CHANCES:
        _write_chances(games, g)


@inlined
def _write_chances(games: Games, g: int) -> None:
    grid = games.grids[g % len(games.grids)]
    write_seats_chances(games.states[g].public, grid, games.chances, g)


@inner
def play_part(
    play: Play,
    games: Games,
    window: Window,
    weights: Weights,
    factors: Array,
    columns: Columns,
    part: int,
    seat: Seat,
) -> None:
    """Play a window in the games of a part, and write its decisions with their advantages."""
    first, end = part * PART, min((part + 1) * PART, len(games.states))
    base, count = keep_waiting(games, window, part)
    for g in range(first, end):
        seat.indices[g - first] = g
        seat.notes[g - first].tiles = np.uint32(0)  # of another part's game
        seat.notes[g - first].is_shared = True
    for _ in range(play.ticks):
        if _is_full(window, part, base + count, columns):
            break
        begun = count
        count = _ask(play, games, window, columns, first, end, base, count, seat)
        for k in range(begun, count):
            seat.samples[k - begun] = base + k
        samples = seat.samples[: count - begun]
        evaluate(
            weights, factors, window.decisions, samples, seat.memory, window.logs, window.values
        )
        _choose(games, window, first, end, seat)
        _move(play, games, window, first, end, seat)
    window.counts[part] = count
    _estimate(play, window, base, count)


@inner
def keep_waiting(games: Games, window: Window, part: int) -> tuple[int, int]:
    """Keep only the decisions of a part that wait; return where they begin, and their number."""
    parts, targets = len(window.counts), window.targets
    base = part * (len(window.values) // parts)
    window.decisions.entry_ends[base] = part * (len(window.decisions.entries) // parts)
    window.decisions.action_ends[base] = part * (len(window.decisions.actions) // parts)
    for g in range(part * PART, min((part + 1) * PART, len(games.states))):
        for seat in range(MAX_PLAYERS):
            games.waiting[g, seat] = NOBODY
    to = base
    for n in range(base, base + window.counts[part]):
        if window.following[n] == WAITING:
            move_decision(window.decisions, n, to)
            targets.chosen[to] = targets.chosen[n]
            targets.log_probabilities[to] = targets.log_probabilities[n]
            window.values[to], window.rewards[to] = window.values[n], window.rewards[n]
            window.owners[to], window.following[to] = window.owners[n], WAITING
            owner = window.owners[n]
            games.waiting[owner // MAX_PLAYERS, owner % MAX_PLAYERS] = to
            to += 1
    window.counts[part] = to - base
    return base, to - base


@inlined
def _is_full(window: Window, part: int, n: int, columns: Columns) -> bool:
    """Return whether there might be too little memory for another move in every game."""
    parts, decisions = len(window.counts), window.decisions
    entries = (part + 1) * (len(decisions.entries) // parts)
    actions = (part + 1) * (len(decisions.actions) // parts)
    facts = columns.facts_end - columns.facts
    return bool(
        decisions.entry_ends[n] + PART * facts >= entries
        or decisions.action_ends[n] + PART * ACTION_COUNT >= actions
    )


@inlined
def _ask(
    play: Play,
    games: Games,
    window: Window,
    columns: Columns,
    first: int,
    end: int,
    base: int,
    count: int,
    seat: Seat,
) -> int:
    """Write the decisions of the seats to move; return how many the part has now."""
    for g in range(first, end):
        k, public = g - first, games.states[g].public
        turn = signed(public.turn)
        legal = list_legal(public, games.states[g].hands[turn], seat.legal)
        seat.asked[k], seat.actions[k] = NOBODY, seat.legal[0]
        if legal > 1 or play.forced:
            observe(games.states[g], turn, seat.views[0])
            if columns.feature_count:
                seat.hidden[0].notes = seat.notes[k]
                lookahead.write_rows(seat.views, seat.hidden, seat.rows)
                seat.notes[k] = seat.hidden[0].notes
            else:
                flat.write_rows(seat.views, seat.rows)
            n = base + count
            write_decision(window.decisions, n, seat.rows, 0, columns, seat.legal[:legal])
            window.owners[n] = g * MAX_PLAYERS + turn
            seat.asked[k] = n
            count += 1
    return count


@inlined
def _choose(games: Games, window: Window, first: int, end: int, seat: Seat) -> None:
    """Draw an action for every decision of a move."""
    decisions, targets = window.decisions, window.targets
    for g in range(first, end):
        n = seat.asked[g - first]
        if n == NOBODY:
            continue
        begin = decisions.action_ends[n]
        key = scramble(games.keys[g] + _DRAWS)
        word = scramble(key + np.uint64(games.moves[g] + 1) * GOLDEN)
        number = fraction(word)
        k = drawn(window.logs, begin, decisions.action_ends[n + 1], number)
        targets.chosen[n], targets.log_probabilities[n] = k, window.logs[begin + k]
        seat.actions[g - first] = decisions.actions[begin + k]
        before = games.waiting[g, window.owners[n] % MAX_PLAYERS]
        if before != NOBODY:
            window.following[before] = n
        games.waiting[g, window.owners[n] % MAX_PLAYERS] = n
        window.following[n], window.rewards[n] = WAITING, 0


@inlined
def _move(play: Play, games: Games, window: Window, first: int, end: int, seat: Seat) -> None:
    """Make a move in every game, and add what it brought to the decisions that wait."""
    for g in range(first, end):
        seat.hands[g - first] = games.states[g].public.hand_number
        games.moves[g] += 1
    codes = Codes(play.episode, MARGIN if play.reward == POINTS else WIN, 0, False, 0.0)
    some = seat.indices[: end - first]
    step_games(games.states, some, seat.actions, codes, games.rewards, games.endings)
    for g in range(first, end):
        public, ended = games.states[g].public, games.endings[g] != 0
        hand_over = ended or public.hand_number != seat.hands[g - first]
        if ended:
            games.episodes[g] += 1
        if play.reward == CHANCES:
            _reward_chances(games, g, ended, hand_over, play)
        elif ended:
            _begin(games, g, play)
        scale = 1 / (POINTS_IN_ONE * public.rules.unit) if play.reward == POINTS else 1.0
        for player in range(public.rules.players):
            n = games.waiting[g, player]
            if n == NOBODY:
                continue
            window.rewards[n] += np.float32(games.rewards[g, player] * scale)
            if ended or (hand_over and play.horizon == HAND):
                window.following[n] = OVER
                games.waiting[g, player] = NOBODY


@inlined
def _reward_chances(games: Games, g: int, ended: bool, hand_over: bool, play: Play) -> None:  # noqa: FBT001
    """Replace the rewards of a move by the changes in the chances to win."""
    rewards, chances, players = games.rewards, games.chances, games.states[g].public.rules.players
    for player in range(players):
        won = ended and rewards[g, player] > 0
        rewards[g, player] = 0
        if hand_over:
            rewards[g, player] = HANDS_IN_A_CHANCE * (won - chances[g, player])
    if ended:
        _begin(games, g, play)
    elif hand_over:
        _write_chances(games, g)
        for player in range(players):
            rewards[g, player] += HANDS_IN_A_CHANCE * chances[g, player]


@inlined
def _estimate(play: Play, window: Window, base: int, count: int) -> None:
    """Write the advantages and returns of the decisions of a part."""
    targets, values = window.targets, window.values
    write_advantages(
        window.rewards,
        values,
        window.following,
        base,
        base + count,
        play.gamma,
        play.gae_lambda,
        targets.advantages,
    )
    for n in range(base, base + count):
        targets.returns[n] = values[n] + targets.advantages[n]


@inner
def list_known(window: Window, samples: Array) -> int:
    """Write the decisions that can be learnt from, in order; return their number."""
    total, size = 0, len(window.values) // len(window.counts)
    for part in range(len(window.counts)):
        for n in range(part * size, part * size + window.counts[part]):
            samples[total] = n
            total += window.following[n] != WAITING
    return total
