"""A tournament: every pair of some agents, chunk by chunk, on the same deals."""

from __future__ import annotations

import itertools
import math
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import CHUNK, Task, Terms, term
from fiveup_env.arena.play.results import FORMAT, ResultsFile, code_version, origin
from fiveup_env.arena.play.workers import Player, play_tasks
from fiveup_env.engine.chance import checked_seed
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import unknown
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from fiveup_env.arena.play.games import Played
    from fiveup_env.files import Json

# Two specs: the first plays one side, the second all others.
Meeting: TypeAlias = tuple[str, str]

# Fields of a tournament and its terms that are not as such in a header: rules are there field by
# field, chunks name their agents and deals, and whether games are recorded changes nothing in them.
BESIDES_HEADER: Final = frozenset(("terms", "rules", "agents", "against", "deals", "record"))

# Plays tasks on this many cores, and yields each result as soon as it is there, in any order.
Engine: TypeAlias = "Callable[[Iterable[Task], Terms, int], Iterator[tuple[Task, Played]]]"


@dataclass(frozen=True)
class Tournament:
    """The agents that meet, how they play, and on which deals."""

    agents: tuple[str, ...]  # specs
    terms: Terms
    deals: int
    seed: int = term(0, type=int, help="the first deal stream (default: 0)")
    against: str | None = term(  # None: all meet all
        None, metavar="SPEC", help="play only the pairs with this agent"
    )
    chunk: int = term(CHUNK, type=int, help=f"deals played side by side (default: {CHUNK})")

    def __post_init__(self) -> None:
        """Refuse a tournament that cannot be played."""
        if len(self.agents) < 2:
            raise ArenaError(
                "a tournament needs at least two agents, such as --agents greedy,random"
            )
        for name, deals in (("deals", self.deals), ("chunk", self.chunk)):
            if deals < 1:
                raise ArenaError(f"--{name} must be at least 1, not {deals}")
        checked_seed(self.seed)
        if self.seed + self.deals > FIRST_OF_STREAMS:
            raise ArenaError(
                f"deals must be below {FIRST_OF_STREAMS:,}, where those of training begin, "
                f"not up to {self.seed + self.deals - 1:,}"
            )
        if self.against not in {None, *self.agents}:
            raise ArenaError(unknown("agent of this tournament", self.against, self.agents))
        for spec in self.agents:
            make_agent(spec)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of agents that are compared, by their places in `agents`."""
        places = range(len(self.agents))
        if self.against is None:
            return list(itertools.combinations(places, 2))
        rival = self.agents.index(self.against)
        return [(k, rival) for k in places if k != rival]

    @property
    def meetings(self) -> list[Meeting]:
        """All meetings, ordered by pair; agents of the same spec share theirs.

        With more than two sides a pair meets twice, each agent alone once. With two sides it meets
        in the order of the specs. So the games do not depend on the order of `agents`.
        """
        specs = [(self.agents[a], self.agents[b]) for a, b in self.pairs]
        if self.terms.rules.sides == 2:
            return list(dict.fromkeys((min(pair), max(pair)) for pair in specs))
        return list(dict.fromkeys(way for a, b in specs for way in ((a, b), (b, a))))

    @property
    def header(self) -> Json:
        """The header of a results file: all that decides a figure, but what chunks say."""
        chosen = {
            field.name: getattr(part, field.name)
            for part in (self.terms, self)
            for field in fields(part)
            if field.name not in BESIDES_HEADER
        }
        return {
            "format": FORMAT,
            **asdict(self.terms.rules),
            **{name: None if value == math.inf else value for name, value in chosen.items()},
            "judge_origin": origin(self.terms.judge) if self.terms.judge else None,
            "code": code_version(),
        }

    def task(self, meeting: Meeting, start: int) -> Task:
        """Return the task of a meeting for the chunk that begins with the deal `start`."""
        return Task(meeting, self.seed + start, min(self.chunk, self.deals - start))

    @property
    def tasks(self) -> list[Task]:
        """All tasks, ordered by chunk, so that all pairs advance together."""
        starts = range(0, self.deals, self.chunk)
        return [self.task(meeting, start) for start in starts for meeting in self.meetings]


@dataclass
class TournamentResult:
    """The part of a tournament that has been played."""

    tournament: Tournament
    played: dict[Task, Played] = field(default_factory=dict)
    interrupted: bool = False

    def chunks_of(self, meeting: Meeting) -> list[Played]:
        """Return a meeting's chunks in order, of those that all pairs have played."""
        tournament = self.tournament
        starts = [
            start
            for start in range(0, tournament.deals, tournament.chunk)
            if all(tournament.task(other, start) in self.played for other in tournament.meetings)
        ]
        return [self.played[tournament.task(meeting, start)] for start in starts]

    @property
    def records(self) -> list[str]:
        """The records of all games, ordered by pair, deal and seating."""
        tournament = self.tournament
        starts = range(0, tournament.deals, tournament.chunk)
        every = (tournament.task(one, start) for one in tournament.meetings for start in starts)
        done = (self.played[task] for task in every if task in self.played)
        return [record for played in done for record in played.records]

    def first(self, deals: int) -> TournamentResult:
        """Return the outcome of a tournament on the first deals, in whole chunks, alone."""
        tournament = replace(self.tournament, deals=deals)
        played = {task: self.played[task] for task in tournament.tasks if task in self.played}
        return TournamentResult(tournament, played, self.interrupted)


def play_tournament(
    tournament: Tournament,
    cores: int,
    results: str | os.PathLike[str] | None = None,
    engine: Engine | None = None,
    decided: Callable[[TournamentResult], bool] | None = None,
) -> TournamentResult:
    """Play the tasks that the results file lacks, and return the outcome.

    The engine plays the tasks: by default, processes on this machine. Ctrl-C ends the tournament
    early and keeps every chunk that was finished. So does `decided`, which is asked before the
    first chunk and after each; it replaces the progress bar.
    """
    engine = engine or play_tasks
    if results is None:
        return _play(tournament, cores, None, engine, decided)
    with closing(ResultsFile(results, tournament.header, tournament.agents)) as file:
        return _play(tournament, cores, file, engine, decided)


def _play(
    tournament: Tournament,
    cores: int,
    file: ResultsFile | None,
    engine: Engine,
    decided: Callable[[TournamentResult], bool] | None,
) -> TournamentResult:
    tasks = tournament.tasks
    known = file.played if file else {}
    outcome = TournamentResult(tournament, {task: known[task] for task in tasks if task in known})
    todo = [task for task in tasks if task not in known]
    if file and tournament.terms.record and outcome.played:
        raise ArenaError(
            f"{file.path} already holds games, but not their moves: "
            "give --record a results file of its own"
        )
    if decided and decided(outcome):
        return outcome
    cores = min(cores, max(1, len(todo)))
    try:
        if cores > 1:
            _compile(tournament.terms)
        playing = engine(todo, tournament.terms, cores)
        for task, played in playing if decided else progress(playing, len(todo), "chunks"):
            outcome.played[task] = played
            if file:
                file.add(task, played)
            if decided and decided(outcome):
                break
    except KeyboardInterrupt:
        outcome.interrupted = True
    return outcome


def _compile(terms: Terms) -> None:
    """Compile the game in this process, so that the workers find it in the cache."""
    Player(Terms(terms.rules, "hand")).play(Task(("random", "random"), 0, 1))
