"""An upper bound on what one seat can win among fixed others: clairvoyance that is charged for.

A player who sees everything wins more than one who does not. Charge it, after every decision, with
what it could not have known, so that a player who really does not know is charged nothing on
average. What it then wins is still a bound from above, and a far lower one (Brown, Smith and Sun,
"Information relaxations and duality in stochastic dynamic programs", 2010).

The charge is made of the value V of a base policy. After decision t it is V(what is seen next) less
the mean of that over all that might have come. All charges of a path and its points add up to

    V(the first view) + the sum, over the decisions, of Q(view, action) - V(view)

so the bound is V plus the most *advantages*, as one view shows them, that a path of actions through
the true deal can collect. If the base were a best response no action would have an advantage, and
the bound would be its value.

Q and V are means of playouts over worlds. The true world is one of them: it is hidden among others
that are drawn from what the belief and the others' known policy leave possible, and each counts by
how likely it makes the others' moves. Who only knows the view cannot tell which of them is true,
and takes each to be so with the probability that it counts: the charge of such a player has mean
zero for any number of worlds, and few worlds only make the bound looser.

After `len(worlds) - 1` own decisions nothing is charged any more, because trees of long hands are
large. `worlds` has the number of worlds at each decision; the last entry is where charges end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from agents.search.choices import CHOICE, likelihood, narrow, read_choices
from fiveup_env.belief.counting import count_ways
from fiveup_env.belief.evidence import read_view
from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import draw_worlds
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined, signed
from fiveup_env.engine.legality import legal_count, list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.engine.view import VIEW, observe
from fiveup_env.opponents.features import SCRATCH, best_action
from fiveup_env.opponents.playouts import margin_of
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT

DEEPEST: Final = 4 * TILE_COUNT  # own decisions in a hand
MEMORY_SIZE: Final = 1 << 18  # positions that are remembered where nothing is charged
WORDS: Final = VIEW.itemsize // 4


def _bytes_of_fields(dtype: np.dtype) -> np.ndarray:
    """Return 255 for every byte of a struct that belongs to a field, and 0 for its padding."""
    meant = np.full(dtype.itemsize, 255, np.uint8)
    if dtype.subdtype:
        item, shape = dtype.subdtype
        return np.tile(_bytes_of_fields(item), int(np.prod(shape)))
    if dtype.fields:
        meant[:] = 0
        for part, start in (field[:2] for field in dtype.fields.values()):
            meant[start : start + part.itemsize] = _bytes_of_fields(part)
    return meant


_MEANT: Final = _bytes_of_fields(VIEW).view(np.uint32)

# A decision of the responder on the path that is being searched.
FRAME = np.dtype(
    [
        ("game", GAME),
        ("key", np.uint64),  # of the chance in its worlds, or of the position
        ("count", np.int64),  # the number of legal actions
        ("at", np.int64),  # the index of the one being tried
        ("actions", np.int64, (ACTION_COUNT,)),
        ("gains", np.float64, (ACTION_COUNT,)),  # their advantages
        ("value", np.float64),  # of the base, from here to the hand's end
        ("best", np.float64),
    ],
    align=True,
)
KNOWN = np.dtype([("key", np.uint64), ("value", np.float64)], align=True)


class Problem(NamedTuple):
    """What a responder is up against, its base policy, and memory for the search."""

    seat: int  # of the responder
    base: np.ndarray  # weights of a heuristic ...
    keys: np.ndarray  # ... or, if there are any, digests of views in ascending order ...
    actions: np.ndarray  # ... and what to do there
    others: np.ndarray  # weights of the heuristic that all other seats play, partner and opponents
    worlds: np.ndarray  # by own decision, the number of worlds
    frames: np.ndarray
    games: np.ndarray
    weights: np.ndarray
    spare: np.ndarray
    views: np.ndarray
    words: np.ndarray  # the same memory as `views`
    belief: np.ndarray
    choices: np.ndarray
    scratch: np.ndarray
    known: np.ndarray


def problem_of(
    seat: int,
    others: np.ndarray,
    base: np.ndarray,
    worlds: np.ndarray,
    table: tuple[np.ndarray, np.ndarray] | None = None,
) -> Problem:
    """Return a problem; if given, a `table` of views' digests and actions replaces the base."""
    keys, actions = table or (np.zeros(0, np.uint64), np.zeros(0, np.int64))
    views, order = np.zeros(1, VIEW), np.argsort(keys)
    return Problem(
        seat=seat,
        base=base,
        keys=keys[order],
        actions=actions[order].astype(np.int64),
        others=others,
        worlds=np.asarray(worlds, np.int64),
        frames=np.zeros(DEEPEST, FRAME),
        games=np.zeros(max(worlds) + 1, GAME),
        weights=np.zeros(max(worlds) + 1),
        spare=np.zeros(1, GAME),
        views=views,
        words=views.view(np.uint32),
        belief=np.zeros(1, BELIEF),
        choices=np.zeros(2 * TILE_COUNT, CHOICE),
        scratch=np.zeros(1, SCRATCH),
        known=np.zeros(MEMORY_SIZE, KNOWN),
    )


def digests(views: np.ndarray) -> np.ndarray:
    """Return a digest of every view."""
    words = np.ascontiguousarray(views).view(np.uint32).reshape(len(views), WORDS)
    found = np.zeros(len(views), np.uint64)
    write_digests(words, found)
    return found


@compiled
def write_digests(words: Array, found: Array) -> None:
    """Write the digest of every row of words."""
    for i in range(len(words)):
        found[i] = _digest(words[i])


@inlined
def _digest(words: Array) -> Word:
    key = np.uint64(1)
    for k in range(len(words)):
        key = scramble(key + np.uint64(words[k] & _MEANT[k]))
    return key


# --- Play


@inlined
def _base_action(game: Struct, problem: Problem) -> int:
    """Return what the base does; its ties are always broken in the same way."""
    public, hand = game.public, game.hands[problem.seat]
    if len(problem.keys) == 0 or legal_count(public, hand) == 1:
        return best_action(public, hand, problem.base, problem.scratch[0], np.uint64(0))
    observe(game, problem.seat, problem.views[0])
    return signed(problem.actions[np.searchsorted(problem.keys, _digest(problem.words))])


@inlined
def _other_action(game: Struct, problem: Problem, chance: Word) -> int:
    public = game.public
    return best_action(public, game.hands[public.turn], problem.others, problem.scratch[0], chance)


@compiled
def advance(game: Struct, problem: Problem, chance: Word) -> None:
    """Play on to the responder's next choice between actions, or to the end of the hand."""
    public = game.public
    while public.phase == PLAYING:
        if public.turn != problem.seat:
            play(game, _other_action(game, problem, chance))
        elif legal_count(public, game.hands[problem.seat]) > 1:
            return
        else:
            list_legal(public, game.hands[problem.seat], problem.scratch[0].actions)
            play(game, problem.scratch[0].actions[0])


@compiled
def play_base(game: Struct, problem: Problem, chance: Word) -> None:
    """Play the rest of a hand, the responder by the base."""
    public = game.public
    while public.phase == PLAYING:
        mine = public.turn == problem.seat
        play(game, _base_action(game, problem) if mine else _other_action(game, problem, chance))


@inlined
def _margin(game: Struct, problem: Problem) -> float:
    return margin_of(game.public, side_of(game.public.rules, problem.seat))


# --- Advantages


@compiled
def weigh(frame: Struct, problem: Problem, count: int, every: bool) -> None:  # noqa: FBT001 - compiled
    """Write the value of the base and, if `every`, the advantage of every action over it."""
    view, belief, spare, games = (
        problem.views[0],
        problem.belief[0],
        problem.spare[0],
        problem.games,
    )
    scratch = problem.scratch[0]
    chosen = _base_action(frame.game, problem)
    observe(frame.game, problem.seat, view)
    read_view(view, belief)
    choices = read_choices(frame.game, problem.seat, problem.others, spare, problem.choices)
    narrow(view.public, belief, problem.choices[:choices])
    games[0] = frame.game
    public = frame.game.public
    draw_worlds(belief, count_ways(belief), frame.key, 0, games[1 : count + 1])
    total = 0.0
    for w in range(count + 1):
        games[w].public = public
        problem.weights[w] = likelihood(
            games[w], problem.others, problem.choices[:choices], scratch
        )
        total += problem.weights[w]
    assert problem.weights[0] > 0
    frame.count = list_legal(public, frame.game.hands[problem.seat], frame.actions)
    frame.value = 0.0
    for k in range(frame.count):
        frame.gains[k] = 0.0
        if every or frame.actions[k] == chosen:
            for w in range(count + 1):
                if problem.weights[w] > 0:
                    problem.spare[0] = games[w]
                    play(spare, frame.actions[k])
                    play_base(spare, problem, scramble(frame.key + np.uint64(w + 1)))
                    frame.gains[k] += problem.weights[w] / total * _margin(spare, problem)
        if frame.actions[k] == chosen:
            frame.value = frame.gains[k]
    for k in range(frame.count):
        frame.gains[k] -= frame.value


@inlined
def _enter(depth: int, problem: Problem) -> None:
    """Prepare a decision: its advantages, or only the value of the base where charges end."""
    frame, last = problem.frames[depth], len(problem.worlds) - 1
    frame.at = 0
    frame.best = -np.inf
    if depth <= last:
        weigh(frame, problem, problem.worlds[depth], depth < last)
    if depth >= last:
        frame.gains[:] = 0.0
        frame.count = list_legal(frame.game.public, frame.game.hands[problem.seat], frame.actions)


@inlined
def _go_down(depth: int, problem: Problem, chance: Word) -> None:
    """Make the move being tried, and play on to the next choice, one level down."""
    frame, below = problem.frames[depth], problem.frames[depth + 1]
    below.game = frame.game
    play(below.game, frame.actions[frame.at])
    advance(below.game, problem, chance)
    below.key = scramble(frame.key + np.uint64(frame.actions[frame.at] + 1))


@compiled
def most_advantages(
    games: Array, i: int, problem: Problem, chance: Word, key: Word
) -> tuple[float, float]:
    """Return the most that a path of actions collects, and what the base is worth at first.

    The i-th game is dealt; `chance` decides the others' ties in it, and `key` is that of the
    worlds.
    """
    frames, last = problem.frames, len(problem.worlds) - 1
    frames[0].game = games[i]
    advance(frames[0].game, problem, chance)
    if frames[0].game.public.phase != PLAYING:
        return 0.0, _margin(frames[0].game, problem)
    frames[0].key = key
    depth, entered, value = 0, True, 0.0
    while depth >= 0:
        frame = frames[depth]
        if entered:
            if frame.game.public.phase != PLAYING:
                value = _margin(frame.game, problem) if depth > last else 0.0
                depth, entered = depth - 1, False
                continue
            if depth > last:
                frame.key = _position(frame.game, key)
                known = problem.known[signed(frame.key & np.uint64(MEMORY_SIZE - 1))]
                if known.key == frame.key:
                    value = known.value
                    depth, entered = depth - 1, False
                    continue
            _enter(depth, problem)
        else:
            frame.best = max(frame.best, frame.gains[frame.at] + value)
            frame.at += 1
        if frame.at == frame.count:
            value = frame.best - (frame.value if depth == last else 0.0)
            if depth > last:
                known = problem.known[signed(frame.key & np.uint64(MEMORY_SIZE - 1))]
                known.key, known.value = frame.key, value
            depth, entered = depth - 1, False
            continue
        _go_down(depth, problem, chance)
        depth, entered = depth + 1, True
    return value, frames[0].value


@inlined
def _position(game: Struct, key: Word) -> Word:
    """Return a hash of all that the rest of the hand depends on when nothing is hidden."""
    public, layout = game.public, game.public.layout
    for seat in range(public.rules.players):
        key = scramble(key + np.uint64(game.hands[seat]))
        key = scramble(key + np.uint64(public.scores[seat]))
    key = scramble(key + np.uint64(public.plies << 16 | public.drawn << 8 | public.passes))
    key = scramble(key + np.uint64(layout.open) + (np.uint64(layout.spinner + 1) << np.uint64(32)))
    for pip in range(PIP_COUNT):
        key = scramble(key + np.uint64(layout.plain[pip] << 8 | layout.double[pip]))
    return key


@compiled
def advantages_along(
    games: Array, i: int, problem: Problem, chance: Word, key: Word, actions: Array
) -> float:
    """Return what a path of actions collects; `actions` are the choices of the i-th game's hand."""
    frames, last, total = problem.frames, len(problem.worlds) - 1, 0.0
    frames[0].game = games[i]
    advance(frames[0].game, problem, chance)
    frames[0].key = key
    depth = 0
    while frames[depth].game.public.phase == PLAYING:
        frame = frames[depth]
        _enter(depth, problem)
        while frame.actions[frame.at] != actions[depth]:
            frame.at += 1
        total += frame.gains[frame.at]
        _go_down(depth, problem, chance)
        depth += 1
    if depth > last:
        total += _margin(frames[depth].game, problem) - frames[last].value
    return total
