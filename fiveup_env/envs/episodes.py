"""Episodes and rewards, which all environments share; docs/understand/rewards.md explains them.

An episode is a game or a single hand. Every move rewards every seat for everything that the move
brought about: its points, and those of the hand's end. A seat's reward is that of its side, so
partners always get the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from fiveup_env.checks import finite, is_one_of, whole
from fiveup_env.engine.chance import deal
from fiveup_env.engine.legality import is_legal, mark_legal, mark_legal_at
from fiveup_env.engine.play import begin_hand, play
from fiveup_env.engine.state import GAME_OVER, HAND_OVER, NOT_ENDED, PLAYING, Games, Views, side_of
from fiveup_env.engine.view import observe
from fiveup_env.envs.streams import stream_seed
from fiveup_env.errors import OptionError, shown, unknown
from fiveup_env.game.game import Game
from fiveup_env.game.values import ENDINGS
from fiveup_env.native import (
    Array,
    DoubleRows,
    FloatRows,
    Int8Rows,
    Int8s,
    Int64s,
    Struct,
    Words,
    compiled,
    inlined,
)
from fiveup_env.rules.actions import ACTION_COUNT, MOVES
from fiveup_env.rules.fields import MAX_PLAYERS, Rules

EpisodeName: TypeAlias = Literal["game", "hand"]
RewardName: TypeAlias = Literal["points", "margin", "win"]
IllegalName: TypeAlias = Literal["error", "terminate"]
EPISODES: Final[tuple[EpisodeName, ...]] = get_args(EpisodeName)
REWARDS: Final[tuple[RewardName, ...]] = get_args(RewardName)
ILLEGAL: Final[tuple[IllegalName, ...]] = get_args(IllegalName)
WHOLE_GAME, ONE_HAND = range(2)
POINTS, MARGIN, WIN = range(3)

MOST_HANDS: Final = 1 << 31
MOST_REWARD: Final = float(np.finfo(np.float32).max)
HOW_TO_TERMINATE: Final = '; with illegal="terminate" it would end the episode instead'

# How a step left an episode; 0 where it is still in progress.
ENDED, CUT_OFF = 1, 2


class Codes(NamedTuple):
    """The options of episodes as numbers, for compiled code."""

    episode: int  # an index of EPISODES
    reward: int  # an index of REWARDS
    max_hands: int
    terminates: bool  # whether an illegal action ends the episode
    illegal_reward: float


@dataclass(frozen=True)
class Episodes:
    """The options of episodes, which all environments share.

    Attributes:
        episode: `game` or `hand`.
        reward: `win`, `points` or `margin`; docs/understand/rewards.md explains them.
        max_hands: the number of hands after which an episode is cut off (0: never).
        illegal: what an illegal action does: `error` raises IllegalMoveError, `terminate` ends the
            episode and gives `illegal_reward` to its player and 0 to all others.
        illegal_reward: that reward.
    """

    episode: str = "game"
    reward: str = "win"
    max_hands: int = 0
    illegal: str = "error"
    illegal_reward: float = -1.0

    def __post_init__(self) -> None:
        """Refuse values that do not exist."""
        if not is_one_of(self.episode, EPISODES):
            raise OptionError(unknown("episode", self.episode, EPISODES))
        if callable(self.reward):
            raise OptionError(
                f"reward must be {', '.join(REWARDS[:-1])} or {REWARDS[-1]} here: a function is "
                f"taken by PettingZoo's, Gymnasium's and vector environments and Batch alone"
            )
        if not is_one_of(self.reward, REWARDS):
            raise OptionError(unknown("reward", self.reward, REWARDS))
        if not is_one_of(self.illegal, ILLEGAL):
            raise OptionError(unknown("value of illegal", self.illegal, ILLEGAL))
        if whole(self.max_hands, 0, MOST_HANDS) is None:
            raise OptionError(
                f"max_hands must be 0 (no limit) or more, not {shown(self.max_hands)}"
            )
        reward = finite(self.illegal_reward)
        if reward is None or abs(reward) > MOST_REWARD:
            raise OptionError(
                f"illegal_reward must be a number that float32 holds, not "
                f"{shown(self.illegal_reward)}"
            )

    @property
    def terminates(self) -> bool:
        """Whether an illegal action ends the episode."""
        return self.illegal == "terminate"

    @cached_property
    def codes(self) -> Codes:
        """The options as numbers, for compiled code."""
        return Codes(
            EPISODES.index(self.episode),
            REWARDS.index(self.reward),
            int(self.max_hands),
            self.terminates,
            float(self.illegal_reward),
        )


def state_to_start(game: object, rules: Rules, options: Episodes) -> np.ndarray:
    """Return the state from which an episode continues a `Game`: an array of one GAME struct.

    Raises OptionError if it is not a game by these rules that an episode can continue.
    """
    if not isinstance(game, Game):
        raise OptionError(f"an episode starts from a Game, not {shown(game)}")
    if game.rules != rules:
        raise OptionError(f"an episode by {rules} cannot start from a game by {game.rules}")
    if game.is_game_over():
        raise OptionError("an episode cannot start from a game that is over")
    if len(game.deals) > game.hand_number + 1:
        raise OptionError("an episode cannot start from a game with deals for later hands")
    if 0 < options.max_hands <= game.hand_number:
        raise OptionError(
            f"an episode of {options.max_hands} hands cannot start in hand {game.hand_number} of "
            f"a game, counted from 0"
        )
    return game.state()


def refusal(games: np.ndarray, i: int, action: object) -> str:
    """Return the message for an action refused in the i-th game, with the actions allowed there."""
    mask = np.zeros((1, ACTION_COUNT), np.int8)
    mark_legal_at(games[i : i + 1], 0, mask)
    return not_allowed(mask[0], action)


def not_allowed(mask: np.ndarray, action: object) -> str:
    """Return the message for an action that is refused where those of a mask are allowed."""
    legal = ", ".join(f"{k} ({MOVES[k]})" for k in np.flatnonzero(mask))
    name = shown(action)
    if isinstance(action, (int, np.integer)) and 0 <= action < ACTION_COUNT:
        name = f"{action} ({MOVES[int(action)]})"
    return f"action {name} is not allowed; allowed: {legal}"


@compiled
def start_episodes(games: Games, indices: Int64s, seeds: Words) -> None:
    """Start a game with each seed, under the rules that its struct already holds."""
    for k in range(len(indices)):
        start_episode(games[indices[k]], seeds[k])


@inlined
def start_episode(game: Struct, seed: int) -> None:
    """Start a game with a seed, under the rules that its struct already holds."""
    public = game.public
    game.seed = seed
    public.hand_number = 0
    public.ended = NOT_ENDED
    for side in range(MAX_PLAYERS):
        public.scores[side] = 0
        game.hands[side] = np.uint32(0)
    begin_hand(game, deal(game))


@compiled
def first_illegal(games: Games, indices: Int64s, actions: Int64s) -> int:
    """Return the index of the first illegal action, or -1."""
    for k in range(len(indices)):
        game = games[indices[k]]
        if not is_legal(game.public, game.hands[game.public.turn], actions[k]):
            return k
    return -1


@compiled
def first_repeated(indices: Int64s, seen: Int8s) -> int:
    """Return the position of the first duplicate, or -1; leave `seen`, zeroed scratch, zeroed."""
    first = -1
    for k in range(len(indices)):
        if seen[indices[k]] and first < 0:
            first = k
        seen[indices[k]] = 1
    for i in indices:
        seen[i] = 0
    return first


@compiled
def step_games(
    games: Games, indices: Int64s, actions: Int64s, codes: Codes, rewards: FloatRows, endings: Int8s
) -> None:
    """Make a move in some of the games, and deal the next hand where one ended.

    Rewards and endings are written at the indices of the games. A game whose episode ended stays at
    its end. Actions must be legal, unless the options say that an illegal one terminates.
    """
    for k in range(len(indices)):
        i = indices[k]
        game = games[i]
        if codes.terminates and not is_legal(game.public, game.hands[game.public.turn], actions[k]):
            endings[i] = _forfeit(game, codes.illegal_reward, rewards, i)
            continue
        endings[i] = _step(game, actions[k], codes, rewards, i)
        if not endings[i] and game.public.phase == HAND_OVER:
            game.public.hand_number += 1
            begin_hand(game, deal(game))


@compiled
def restart_ended(
    games: Games, indices: Int64s, endings: Int8s, keys: Words, episodes: Int64s, finals: Games
) -> None:
    """Start the next episode of each of the games `indices` whose episode has ended.

    The structs of the games at their ends are kept in `finals`.
    """
    for i in indices:
        if endings[i]:
            finals[i] = games[i]
            episodes[i] += 1
            start_episode(games[i], stream_seed(keys[i], episodes[i]))


@inlined
def _forfeit(game: Struct, illegal_reward: float, rewards: Array, i: int) -> int:
    """End the episode at an illegal action, for which its player alone is rewarded."""
    for seat in range(game.public.rules.players):
        rewards[i, seat] = illegal_reward if seat == game.public.turn else 0
    return ENDED


@inlined
def _step(game: Struct, action: int, codes: Codes, rewards: Array, i: int) -> int:
    """Make a move and write its rewards; return ENDED, CUT_OFF or 0."""
    public, players = game.public, game.public.rules.players
    for seat in range(players):
        rewards[i, seat] = -public.scores[side_of(public.rules, seat)]
    play(game, action)
    ending = 0
    if public.phase == GAME_OVER or (public.phase == HAND_OVER and codes.episode == ONE_HAND):
        ending = ENDED
    elif public.phase == HAND_OVER and public.hand_number + 1 == codes.max_hands:
        ending = CUT_OFF
    if codes.reward == WIN:
        for seat in range(players):
            rewards[i, seat] = 0
        if ending == ENDED:
            _reward_win(public, codes.episode, rewards, i)
        return ending
    for seat in range(players):
        rewards[i, seat] += public.scores[side_of(public.rules, seat)]
    if codes.reward == MARGIN:
        _take_means_of_others(public.rules, rewards, i)
    return ending


@compiled
def write_returns(games: Games, i: int, codes: Codes, returns: DoubleRows) -> None:
    """Write the return of every seat, the sum of its rewards, for an episode that is over."""
    public = games[i].public
    for seat in range(public.rules.players):
        returns[i, seat] = 0 if codes.reward == WIN else public.scores[side_of(public.rules, seat)]
    if codes.reward == MARGIN:
        _take_means_of_others(public.rules, returns, i)
    elif codes.reward == WIN:
        _reward_win(public, codes.episode, returns, i)


@inlined
def _take_means_of_others(rules: Struct, rewards: Array, i: int) -> None:
    """Subtract from each side's points the mean of the other sides', so that the sum is zero."""
    total = np.float32(0)
    for side in range(rules.sides):
        total += rewards[i, side]
    for seat in range(rules.players):
        others = total - rewards[i, seat]
        rewards[i, seat] -= others / np.float32(rules.sides - 1)


@inlined
def _reward_win(public: Struct, episode: int, rewards: Array, i: int) -> None:
    """Write 1 for the side that won, and share -1 among the others; leave a tied hand as it is."""
    rules = public.rules
    winner = public.winner
    if episode == ONE_HAND:
        winner = _best_side(public)
    if winner < 0:
        return
    for seat in range(rules.players):
        own = side_of(rules, seat) == winner
        rewards[i, seat] = 1 if own else np.float32(-1) / np.float32(rules.sides - 1)


@inlined
def _best_side(public: Struct) -> int:
    """Return the side that alone has the most points, or -1."""
    best = 0
    for side in range(1, public.rules.sides):
        if public.scores[side] > public.scores[best]:
            best = side
    for side in range(public.rules.sides):
        if side != best and public.scores[side] == public.scores[best]:
            return -1
    return best


class Results(NamedTuple):
    """How some episodes ended, an entry for each.

    Attributes:
        winner: the side that won the game, or alone has the most points of the hand; -1 if no side
            did, or the episode was cut off or ended by an illegal action (int64, [n]).
        scores: the score of every side (int64, [n, sides]).
        ended: how the last hand ended: `domino`, `blocked` or `target`, or `illegal` where an
            illegal action ended the episode (object, [n]).
    """

    winner: np.ndarray
    scores: np.ndarray
    ended: np.ndarray

    def of(self, k: int) -> dict[str, Any]:
        """Return the k-th entry as the info of one environment has it."""
        return {
            "winner": int(self.winner[k]),
            "scores": self.scores[k].copy(),
            "ended": self.ended[k],
        }


def results_of(games: np.ndarray, indices: np.ndarray, episode: int, sides: int) -> Results:
    """Return the results of the finished episodes of the games `indices`."""
    winners = np.zeros(len(indices), np.int64)
    write_winners(games, indices, episode, winners)
    public = games["public"][indices]
    forfeited = public["phase"] == PLAYING
    ended = np.array([*ENDINGS, "illegal"], object)[
        np.where(forfeited, len(ENDINGS), public["ended"])
    ]
    return Results(winners, public["scores"][:, :sides].astype(np.int64), ended)


@compiled
def write_winners(games: Games, indices: Int64s, episode: int, winners: Int64s) -> None:
    """Write the side that won each of some episodes that have ended, or -1."""
    for k in range(len(indices)):
        public = games[indices[k]].public
        winners[k] = -1
        if episode == ONE_HAND and public.phase != PLAYING:
            winners[k] = _best_side(public)
        elif public.phase == GAME_OVER:
            winners[k] = public.winner


@compiled
def observe_games(
    games: Games, indices: Int64s, views: Views, masks: Int8Rows, turns: Int8s
) -> None:
    """Write the view and the legal actions of the seat to move in each of some games.

    `views[k]` is that of game `indices[k]`; masks and turns have the games' own indices.
    """
    for k in range(len(indices)):
        i = indices[k]
        game = games[i]
        turn = game.public.turn
        turns[i] = turn
        observe(game, turn, views[k])
        for action in range(ACTION_COUNT):
            masks[i, action] = 0
        mark_legal(game.public, game.hands[turn], masks, i, 0)
