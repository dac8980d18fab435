"""The luck of a game, told apart so that it can be subtracted: what chance did for a side.

A duplicate deal cancels luck only until the two games of a deal part, which is soon. Here the luck
of every chance event is estimated along the game as it was played: the chance to win after what
happened, less its mean over what could have happened. The mean of such differences is zero whatever
the estimates are worth, so subtracting them changes no expectation; the better the estimates, the
more of the variance goes. (AIVAT, by Burch and others, does this for poker.)

There are two kinds of events:

- A deal, against DEALS other deals at the same scores.
- What becomes known to an observer who sees all hands but those of a heuristic: by its moves, by
  draws, by how the hand ends, and by how a heuristic chooses among equals. The hidden tiles are
  also dealt in WORLDS - 1 other ways. What the heuristic would do is known in each, so a world
  counts as far as it would have made the same moves. The real world is one of them, and nothing
  that the observer knows tells it from the others. That makes the mean exact even when few worlds
  are left. If neither agent is a heuristic, only the order of the boneyard is hidden.

The estimates are playouts to the end of the hand: heuristics by themselves, other agents by the
model of a strong player with which searches weigh worlds. From there on the outlook gives the
chance to win, shifted by a drift, as the sides need not be equally strong: the players of the
playouts meet in TRIAL_GAMES games.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.arena.tally import FIRST, MOST_HANDS, NOBODY, SECOND
from fiveup_env.engine.chance import chance_below, deal, scramble
from fiveup_env.engine.compiled import (
    Array,
    Mask,
    Struct,
    Word,
    compiled,
    inlined,
    lowest_bit,
    signed,
)
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import begin_hand, force_lead, play
from fiveup_env.engine.state import GAME, HAND_OVER, ONE, PLAYING, side_of
from fiveup_env.opponents.features import (
    FEATURE_NAMES,
    SCRATCH,
    best_action,
    list_best,
    unseen_by,
    write_features,
)
from fiveup_env.opponents.inference import shipped_model
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.outlook import best_rival, chance_to_win, outlook_of
from fiveup_env.opponents.playouts import first_hands
from fiveup_env.opponents.registry import agent_class
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS, RULES
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.rules.fields import Rules

DEALS: Final = 32
WORLDS: Final = 128
PLAYOUTS: Final = 32  # for an event, at least, however few worlds are left
TRIAL_GAMES: Final = 2_000  # between the model and the heuristic, for the drift
TRIAL_SEED: Final = 2_000_000_000
FINE: Final = 1 << 30  # steps of a random fraction

# What an event is estimated by: who plays which seat, and what the scores are worth.
PLAYERS = np.dtype(
    [
        ("side", np.int64),  # whose luck is measured
        ("hidden", np.int8, (MAX_PLAYERS,)),  # whether a seat is the heuristic's
        ("heuristic", np.float64, (len(FEATURE_NAMES),)),
        ("other", np.float64, (len(FEATURE_NAMES),)),  # the weights of the other seats' player
        ("likely", np.int8),  # whether that is the model, which plays what is likely
        ("drift", np.float64),  # of the side, in log odds at the beginning of a game
        ("scratch", SCRATCH),
    ],
    align=True,
)

# A world that is consistent with what the observer knows.
WORLD = np.dtype([("game", GAME), ("share", np.float64)], align=True)


class Luck:
    """Measures the luck that the first agent's side has in games against the second."""

    def __init__(self, rules: Rules, agents: Sequence[object], seatings: np.ndarray) -> None:
        """Prepare for games under the seatings of a deal, each a row of FIRST and SECOND."""
        rungs = [_rung_of(agent) for agent in agents]
        known = next((k for k in (SECOND, FIRST) if rungs[k]), NOBODY)
        self._rules = np.array(rules.to_struct(), RULES)
        self._outlook = outlook_of(self._rules)
        of_both = (
            players_for(rungs[known], rungs[1 - known]) if known != NOBODY else players_for("", "")
        )
        self._players = np.repeat(of_both, len(seatings))
        self._players["side"] = np.arange(len(seatings))
        self._players["hidden"][:, : rules.players] = seatings == known
        if known != NOBODY:
            drift = drift_against(self._rules.item(), rungs[known], rungs[1 - known])
            self._players["drift"] = drift if known == SECOND else -drift
        self._worlds, self._next = np.zeros(WORLDS, WORLD), np.zeros(WORLDS, WORLD)

    def __call__(self, seed: int, seating: int, actions: Sequence[int]) -> np.ndarray:
        """Return the luck of the deals and of the rest, in chances to win the game.

        A game may have ended before its time, by a forfeit.
        """
        luck, players = np.zeros(2), self._players[seating : seating + 1]
        games = first_hands(self._rules, np.array([seed], np.uint64))
        moves = np.array(actions, np.int64)
        add_luck(games, moves, players, self._outlook, self._worlds, self._next, luck)
        return luck


def without_luck(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return results by deal less their luck, weighed as reduces the variance most.

    `luck` has a row for each deal and a column for each kind. The weights for one half of the deals
    come from the other half, so that no deal has a say in what is subtracted from it. They are from
    0 to 2, whatever a fit to a few deals asks for.
    """
    reduced = results.astype(np.float64)
    for half in (slice(0, None, 2), slice(1, None, 2)):
        other = slice(1 - half.start, None, 2)
        centred = luck[other] - luck[other].mean(0) if len(luck[other]) else luck[other]
        weights = np.linalg.lstsq(centred, results[other], rcond=None)[0]
        reduced[half] -= luck[half] @ weights.clip(0, 2)
    return reduced


def _rung_of(agent: object) -> str:
    """Return the name of the heuristic that an agent is, or nothing."""
    return next((name for name in LADDER if type(agent) is agent_class(name)), "")


@cache
def players_for(rung: str, other: str) -> np.ndarray:
    """Return who plays, the model where a heuristic is not named: an array of one PLAYERS."""
    players = np.zeros(1, PLAYERS)
    players["likely"] = not other
    for field, name in (("heuristic", rung), ("other", other)):
        players[field] = weights_of(name) if name else shipped_model()[0]["weights"]
    return players


@cache
def drift_against(fields: tuple[int, ...], rung: str, other: str) -> float:
    """Return how much more than its share `other`, or the model, wins against a heuristic.

    It is in log odds.
    """
    rules, players = np.array(fields, RULES), players_for(rung, other).copy()
    games = first_hands(rules, np.arange(TRIAL_SEED, TRIAL_SEED + TRIAL_GAMES, dtype=np.uint64))
    won = play_trials(games, players) + 1 / 2  # so that no share is 0 or 1
    return math.log(won / (TRIAL_GAMES + 1 - won)) + math.log(int(rules["sides"]) - 1)


@compiled
def play_trials(games: Array, players: Array) -> int:
    """Play games, the heuristic's opponent each time on the next side; return how many it won."""
    won = 0
    for i in range(len(games)):
        public = games[i].public
        own = i % public.rules.sides
        for seat in range(public.rules.players):
            players[0].hidden[seat] = side_of(public.rules, seat) != own
        while public.hand_number < MOST_HANDS:
            begin_hand(games[i], deal(games[i]))
            play_hand(games[i], players[0], scramble(games[i].seed + np.uint64(public.hand_number)))
            if public.phase != HAND_OVER:
                break
            public.hand_number += 1
        won += public.phase != HAND_OVER and public.winner == own
    return won


@compiled
def play_hand(game: Struct, players: Struct, key: Word) -> None:
    """Play a hand to its end: hidden seats by the heuristic, the others by their player."""
    public = game.public
    while public.phase == PLAYING:
        hand = game.hands[public.turn]
        if players.hidden[public.turn]:
            action = best_action(public, hand, players.heuristic, players.scratch, key)
        elif players.likely:
            action = likely_action(public, hand, players.other, players.scratch, key)
        else:
            action = best_action(public, hand, players.other, players.scratch, key)
        play(game, action)


@compiled
def likely_action(public: Struct, hand: Mask, weights: Array, scratch: Struct, key: Word) -> int:
    """Return an action with a chance in proportion to the exponential of its weighted features."""
    count = list_legal(public, hand, scratch.actions)
    best, chosen = -np.inf, scratch.actions[0]
    if count == 1:
        return signed(chosen)
    unseen = unseen_by(public, hand)
    for k in range(count):
        action = scratch.actions[k]
        if action >= DRAW:
            continue
        write_features(public, hand, unseen, action, weights, scratch)
        fraction = chance_below(key, public.plies * ACTION_COUNT + signed(action), FINE)
        # The largest of such sums is each action's with just that chance (Gumbel's trick).
        value = -np.log(-np.log((fraction + 0.5) / FINE))
        for name in range(len(FEATURE_NAMES)):
            value += weights[name] * scratch.features[name]
        if value > best:
            best, chosen = value, action
    return signed(chosen)


@compiled
def chance_after(
    start: Struct, players: Struct, outlook: Array, times: int, key: Word, trial: Array
) -> float:
    """Return the side's mean chance to win after so many playouts of a hand."""
    total = 0.0
    for k in range(times):
        trial[0] = start
        public = trial[0].public
        play_hand(trial[0], players, scramble(key + np.uint64(k)))
        chance = chance_to_win(public, players.side, outlook)
        target = public.rules.target
        still = 2 * target - public.scores[players.side] - best_rival(public, players.side)
        odds = np.exp(players.drift * np.sqrt(max(0.0, still / (2 * target))))
        total += chance * odds / (chance * odds + 1 - chance)
    return total / times


@compiled
def add_luck(
    games: Array,
    actions: Array,
    players: Array,
    outlook: Array,
    worlds: Array,
    following: Array,
    luck: Array,
) -> None:
    """Replay a game, and add up the luck of its deals and that of what became known since."""
    game, trial, done = games[0], np.zeros(1, GAME), 0
    keys = np.array([scramble(game.seed)])
    while True:
        typical = mean_of_deals(games, players[0], outlook, keys, trial)
        begin_hand(game, deal(game))
        count = draw_worlds(games, players[0], keys, worlds)
        worth = 0.0
        for k in range(count):
            worth += chance_after(worlds[k].game, players[0], outlook, 1, next_key(keys), trial)
        luck[0] += worth / count - typical
        while game.public.phase == PLAYING:
            if done == len(actions):
                return
            seat = game.public.turn
            play(game, actions[done])
            learnt, count = learn(
                games,
                seat,
                actions[done],
                players[0],
                outlook,
                count,
                worlds,
                following,
                keys,
                trial,
            )
            luck[1] += learnt
            done += 1
        if game.public.phase != HAND_OVER or done == len(actions):
            return
        game.public.hand_number += 1


@inlined
def next_key(keys: Array) -> Word:
    """Return the next key of a stream."""
    keys[0] = scramble(keys[0] + np.uint64(1))
    return keys[0]


@compiled
def mean_of_deals(
    games: Array, players: Struct, outlook: Array, keys: Array, trial: Array
) -> float:
    """Return the side's mean chance over other deals of the hand that is about to begin."""
    total, dealt = 0.0, np.zeros(1, GAME)
    for _ in range(DEALS):
        dealt[0] = games[0]
        dealt[0].seed = next_key(keys)
        begin_hand(dealt[0], deal(dealt[0]))
        total += chance_after(dealt[0], players, outlook, 1, next_key(keys), trial)
    return total / DEALS


@compiled
def draw_worlds(games: Array, players: Struct, keys: Array, worlds: Array) -> int:
    """Write the real world of a hand that has just been dealt, and others with its seen hands.

    Return how many they are: where tiles decide who leads, those with another lead are left out.
    """
    count = 0
    for k in range(len(worlds)):
        worlds[count].game = games[0]
        if k > 0:
            shuffle_hidden(worlds[count].game, players.hidden, next_key(keys))
        count += leads_alike(worlds[count].game, games[0])
    for k in range(count):
        worlds[k].share = 1 / count
    return count


@inlined
def leads_alike(game: Struct, other: Struct) -> bool:
    """Return whether the same tile of the same seat leads a game that is dealt otherwise."""
    if other.public.forced_lead < 0:
        return True
    force_lead(game)
    return game.public.lead == other.public.lead and (
        game.public.forced_lead == other.public.forced_lead
    )


@compiled
def shuffle_hidden(game: Struct, hidden: Array, key: Word) -> None:
    """Deal the hidden hands and the boneyard anew, before a tile has been set or drawn."""
    rules, count, tiles = game.public.rules, 0, np.empty(TILE_COUNT, np.int64)
    for k in range(game.public.boneyard):
        tiles[count] = game.order[k]
        count += 1
    for seat in range(rules.players):
        hand = game.hands[seat] if hidden[seat] else np.uint32(0)
        while hand:
            tiles[count] = lowest_bit(hand)
            hand &= hand - ONE
            count += 1
    for i in range(count - 1, 0, -1):
        j = chance_below(key, i, i + 1)
        tiles[i], tiles[j] = tiles[j], tiles[i]
    for k in range(game.public.boneyard):
        game.order[k] = tiles[k]
    count = game.public.boneyard
    for seat in range(rules.players):
        if hidden[seat]:
            game.hands[seat] = 0
            for _ in range(rules.hand_size):
                game.hands[seat] |= ONE << np.uint32(tiles[count])
                count += 1


@compiled
def learn(
    games: Array,
    seat: int,
    action: int,
    players: Struct,
    outlook: Array,
    count: int,
    worlds: Array,
    following: Array,
    keys: Array,
    trial: Array,
) -> tuple[float, int]:
    """Return by how much a move and what it showed raised the chance, and how many worlds are left.

    `games[0]` is the game after the move. The worlds that could not look like that are left out.
    """
    equals, moved = np.empty(ACTION_COUNT, np.int64), np.zeros(1, GAME)
    before = after = shares = 0.0
    left, times = 0, max(1, PLAYOUTS // count)
    for k in range(count):
        ways = 1
        equals[0] = action
        if players.hidden[seat] or not players.likely:
            by = players.heuristic if players.hidden[seat] else players.other
            public = worlds[k].game.public
            hand = worlds[k].game.hands[seat]
            ways = list_best(public, hand, by, players.scratch, equals)
        elif count == 1:
            break  # nothing is hidden, and nothing known could have been different
        share = worlds[k].share / ways
        for way in range(ways):
            moved[0] = worlds[k].game
            play(moved[0], equals[way])
            chance = chance_after(moved[0], players, outlook, times, next_key(keys), trial)
            before += share * chance
            if equals[way] == action and looks_like(moved[0], games[0], players.hidden):
                following[left].game = moved[0]
                following[left].share = share
                after += share * chance
                shares += share
                left += 1
    if shares == 0.0:
        worlds[0].game = games[0]
        return 0.0, 1
    for k in range(left):
        worlds[k].game = following[k].game
        worlds[k].share = following[k].share / shares
    return after / shares - before, left


@inlined
def looks_like(game: Struct, other: Struct, hidden: Array) -> bool:
    """Return whether two games, the same before the last move, look the same after it."""
    one, two = game.public, other.public
    if one.turn != two.turn or one.phase != two.phase or one.drawn != two.drawn:
        return False
    for seat in range(one.rules.players):
        if one.draws[seat] != two.draws[seat] or one.scores[seat] != two.scores[seat]:
            return False
        if not hidden[seat] and game.hands[seat] != other.hands[seat]:
            return False
    return one.passes == two.passes
