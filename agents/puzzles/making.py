"""New puzzles: games between agents, and the positions of these that are worth solving.

Games are played in rounds. Of every game some choices are looked at in few worlds, and graded;
of those that may be puzzles, the one with the highest grade that is still wanted is searched
deeply. The same numbers give the same puzzles, on any number of cores.
"""

from __future__ import annotations

from collections import Counter
from itertools import count as numbers
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from agents.games import turns_of
from agents.processes import spread
from agents.puzzles.judging import (
    CLEAR,
    LEVELS,
    PLAYOUT,
    SECOND_PLAYOUT,
    SHARE,
    grade_of,
    judged,
    solved,
    solvers,
    worth_solving,
)
from agents.puzzles.storage import (
    GRADES,
    Position,
    Puzzle,
    PuzzleError,
    PuzzleFile,
    choices_text,
)
from fiveup_env.arena.play.results import code_version
from fiveup_env.encoders import NoRows
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.batch import Batch
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.progress import show_line
from fiveup_env.rules.fields import MAX_PLAYERS, Rules
from fiveup_env.rules.presets import FAMILY

if TYPE_CHECKING:
    from collections.abc import Iterable

# Who plays: weak and decent agents, so that positions are those of people's games.
PLAYERS: Final = (
    "greedy",
    "defensive",
    "positional",
    "counter",
    "partner",
    "student",
    "pimc:worlds=32",
)
# The games of a round, by preset and number of players: more than half by the default rules.
GAMES: Final = [("five_up", 4)] * 12 + [("five_up", 2)] * 6 + [("five_up", 3)] * 4
OTHERS: Final = [name for name in FAMILY if name != "five_up"]
ROUND: Final = GAMES + [(name, players) for name in OTHERS for players in (2, 3, 4)]
MOST_MOVES: Final = 600  # of a game
LOOKS: Final = (5, 2)  # choices of a game that are looked at: of all, and of near endings
NEAR_END: Final = 2  # tiles of the boneyard that are left, at most, in a near ending
FIRST_WORLDS: Final = 512  # of the first look
FIRST_ERRORS: Final = 2.0
SURE: Final = 4.5  # standard errors; `check` asks for CLEAR ones, in other worlds
MOST_OF_A_GRADE: Final = 0.24  # of all puzzles
MOST_EASY: Final = 0.2  # of all puzzles are found by `greedy`
LOOK, SEARCH, CHECK = range(3)  # what worlds are drawn for


class Choice(NamedTuple):
    """A choice in a game, and the moves made before it."""

    rules: str
    players: int
    seed: int
    actions: list[int]
    position: Position


class Candidate(NamedTuple):
    """A choice with its best move by the first look, and who finds that."""

    choice: Choice
    best: int
    found_by: list[bool]

    @property
    def grade(self) -> int:
        """The grade, if the deep search confirms the move."""
        return grade_of(self.found_by)


def make_puzzles(count: int, seed: int, worlds: int, cores: int, command: str) -> PuzzleFile:
    """Return new puzzles; `seed` is the first deal, and deals follow as far as they are needed."""
    if count < 1 or worlds < FIRST_WORLDS or cores < 1:
        raise PuzzleError(
            f"make needs one puzzle and one core or more, and {FIRST_WORLDS} worlds or more"
        )
    puzzles: list[Puzzle] = []
    tally: Counter[str] = Counter()
    quotas = _Quotas(count)
    with spread(cores) as over:
        for k in numbers():
            choices = choices_of(seed, k)
            looked = [candidate for candidate in over(look, choices) if candidate]
            chosen = quotas.chosen(looked)
            searched = over(search, [(candidate, worlds) for candidate in chosen])
            for candidate, puzzle in zip(chosen, searched, strict=True):
                if puzzle and len(puzzles) < count and quotas.take(candidate):
                    puzzles.append(puzzle)
            steps = {"games": len(ROUND), "looked": len(choices), "passed": len(looked)}
            tally.update(steps | {"searched": len(chosen)})
            show_line(f"{len(puzzles):,} of {count:,} puzzles, {tally['looked']:,} positions seen")
            if len(puzzles) >= count:
                break
    show_line("", "\r")
    about = {
        "command": command,
        "code": code_version(),
        "seed": seed,
        "worlds": worlds,
        "playouts": [PLAYOUT, SECOND_PLAYOUT],
        "players": PLAYERS,
        "levels": LEVELS,
        **tally,
    }
    return PuzzleFile(puzzles, about)


# --- Games


def choices_of(seed: int, k: int) -> list[Choice]:
    """Play the k-th round of games, and return the choices to look at, game by game."""
    first = seed + k * len(ROUND)
    if not 0 <= seed <= first <= FIRST_OF_STREAMS - len(ROUND):
        raise PuzzleError(f"deals must be from 0 to below {FIRST_OF_STREAMS:,}, not {first:,}")
    choices = []
    for game, (actions, kept) in enumerate(_played(first)):
        name, players = ROUND[game]
        for move, view in sorted(dict(item for looks in kept for item in looks.views).items()):
            position = Position(view, np.flatnonzero(legal_masks(view)[0]))
            choices.append(Choice(name, players, first + game, actions[:move], position))
    return choices


def _played(first: int) -> list[tuple[list[int], list[_Kept]]]:
    """Play a game by every one of ROUND; return its actions, and the views kept of it."""
    rules = [Rules.preset(name, players) for name, players in ROUND]
    batch = Batch(len(ROUND), rules, encoder=NoRows())
    batch.reset(first + np.arange(len(ROUND)))
    rng, agents_rng = np.random.default_rng(first), keyed_rng("games of puzzles", first)
    agents = [make_agent(spec) for spec in PLAYERS]
    seated = rng.integers(len(agents), size=(len(ROUND), MAX_PLAYERS))
    played: list[tuple[list[int], list[_Kept]]] = [
        ([], [_Kept(size, rng) for size in LOOKS]) for _ in ROUND
    ]
    turns = turns_of(batch, agents, PLAYERS, seated, agents_rng)
    for going, views, masks, _, chosen in islice(turns, MOST_MOVES):
        near_end = views["public"]["boneyard"] - views["public"]["drawn"] <= NEAR_END
        for i in np.flatnonzero(masks.sum(1) > 1).tolist():
            actions, kept = played[going[i]]
            for looks in kept[: 1 + int(near_end[i])]:
                looks.offer(len(actions), views[i : i + 1])
        for game, action in zip(going.tolist(), chosen.tolist(), strict=True):
            played[game][0].append(action)
    return played


class _Kept:
    """Some of the views that are offered, each with the same probability."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.views: list[tuple[int, np.ndarray]] = []
        self._size, self._rng, self._offered = size, rng, 0

    def offer(self, move: int, view: np.ndarray) -> None:
        self._offered += 1
        place = int(self._rng.integers(self._offered))
        if len(self.views) < self._size:
            self.views.append((move, view.copy()))
        elif place < self._size:
            self.views[place] = (move, view.copy())


# --- What becomes a puzzle


def look(choice: Choice) -> Candidate | None:
    """Return the puzzle that a choice may become by a look in few worlds, or None."""
    verdict = judged(choice.position, FIRST_WORLDS, choice.seed, LOOK)
    if verdict.errors < FIRST_ERRORS or not worth_solving(verdict):
        return None
    found_by = solvers(choice.position, verdict.best, choice.seed)
    return Candidate(choice, verdict.best, found_by)


def search(asked: tuple[Candidate, int]) -> Puzzle | None:
    """Return the puzzle that a candidate is, if deep searches and the solver confirm its move."""
    candidate, worlds = asked
    _, best, _ = candidate
    rules, players, seed, actions, position = candidate.choice
    verdict = judged(position, worlds, seed, SEARCH)
    moves = choices_text(rules, players, seed, actions)
    if verdict.best != best or verdict.errors < SURE or not worth_solving(verdict) or moves is None:
        return None
    second = judged(position, worlds // SHARE, seed, SEARCH, SECOND_PLAYOUT)
    solution = solved(position, best)
    if second.best != best or second.errors < CLEAR or not solution.agrees:
        return None
    chances = tuple(np.round(1000 * verdict.chances).astype(int).tolist())
    return Puzzle(seed, rules, players, moves, best, chances, candidate.grade, solution.proves)


class _Quotas:
    """How many puzzles of a grade, and how many easy ones, are still wanted."""

    def __init__(self, count: int) -> None:
        most = int(np.ceil(MOST_OF_A_GRADE * count))
        self._most = dict.fromkeys(range(1, GRADES + 1), most)
        self._easy = int(MOST_EASY * count)

    def chosen(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return for each game the wanted candidate with the highest grade; few tiles come first.

        Of one grade, that is the one whose boneyard has fewest tiles left: it may be proven.
        """
        by_game: dict[int, Candidate] = {}
        for candidate in filter(self._wanted, candidates):
            seed = candidate.choice.seed
            if seed not in by_game or _rank(candidate) > _rank(by_game[seed]):
                by_game[seed] = candidate
        return list(by_game.values())

    def take(self, candidate: Candidate) -> bool:
        """Count a puzzle if it is still wanted."""
        if not self._wanted(candidate):
            return False
        self._most[candidate.grade] -= 1
        self._easy -= candidate.found_by[0]
        return True

    def _wanted(self, candidate: Candidate) -> bool:
        return self._most[candidate.grade] > 0 and self._easy >= candidate.found_by[0]


def _rank(candidate: Candidate) -> tuple[int, int]:
    public = candidate.choice.position.view[0]["public"]
    return candidate.grade, int(public["drawn"]) - int(public["boneyard"])
