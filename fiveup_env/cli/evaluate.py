"""`fiveup evaluate`: agents, compared on duplicate deals.

A script may run the same command with other engines.
docs/understand/arena.md explains how to read the tables, and what else the arena can do.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.results import code_version
from fiveup_env.arena.play.tournament import Tournament, TournamentResult, play_tournament
from fiveup_env.arena.statistics.sequential import Follower, SequentialTest
from fiveup_env.arena.statistics.standings import Standings, standings_of
from fiveup_env.arena.tables import standings_text
from fiveup_env.cli.benchmark import NO_OTHER_ENGINES, add_shared_options, benchmark, engine_of
from fiveup_env.cli.shared import Parser, RulesOptions, add_struct, answer, options_in
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import listing, split_specs
from fiveup_env.progress import show_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from dataclasses import Field

    from fiveup_env.cli.benchmark import Engines

# The options that go with --benchmark; the protocol decides about all others.
OF_BENCHMARK = frozenset(
    ("benchmark", "quick", "agents", "engine", "cores", "results", "json", "report")
)
AGENTS = "random,greedy,defensive"
DEALS = 1_000
MOST_DEALS = 100_000  # of a sequential test


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    made = commands.add_parser("evaluate", help="compare agents on duplicate deals")
    made.set_defaults(run=run)
    add_options(made)


def run(options: argparse.Namespace) -> int:
    """Compare agents, and return the exit status."""
    return evaluate(options, shlex.join(["fiveup", *sys.argv[1:]]))


def main(words: Sequence[str] | None = None, engines: Engines = NO_OTHER_ENGINES) -> int:
    """Run the command line of a script, and return the exit status."""

    def run() -> int:
        options = parser(engines).parse_intermixed_args(words)
        given = sys.argv[1:] if words is None else words
        return evaluate(options, shlex.join(["python", "evaluate.py", *given]), engines)

    return answer("evaluate", run)


def evaluate(options: argparse.Namespace, command: str, engines: Engines = NO_OTHER_ENGINES) -> int:
    """Do what the options ask for, and return the exit status; `command` is what was typed."""
    if options.list:
        print(listing())
        return 0
    if options.specs and options.agents:
        raise ArenaError("name the agents one by one or with --agents, not both")
    options.agents = options.agents or ",".join(options.specs) or AGENTS
    del options.specs
    if options.benchmark:
        defaults = parser(engines)
        for name, value in vars(options).items():
            if name not in OF_BENCHMARK and value != defaults.get_default(name):
                raise ArenaError(f"--{name.replace('_', '-')} is for {options.benchmark} to decide")
        return benchmark(options, engines)
    return _run(options, engines, command)


def parser(engines: Engines = NO_OTHER_ENGINES) -> Parser:
    """Return the parser of a script's command line."""
    made = Parser(description="Compare agents on duplicate deals, or make a score card.")
    add_options(made, engines)
    return made


def add_options(made: Parser, engines: Engines = NO_OTHER_ENGINES) -> None:
    """Add the options of `fiveup evaluate` to a parser."""
    add = made.add_argument
    add("--list", action="store_true", help="list the agents and their options")
    add("specs", nargs="*", default=[], metavar="AGENT", help="a spec, as --agents has them")
    add("--agents", metavar="SPECS", help=f"specs, separated by commas (default: {AGENTS})")
    add("--benchmark", metavar="NAME", help="make the score card of an agent, such as fiveup-v1")
    add("--quick", action="store_true", help="with --benchmark: fewer deals, wider intervals")
    add_struct(made, RulesOptions)
    for term in (*terms_in(Terms), *terms_in(Tournament)):
        add(f"--{term.name.replace('_', '-')}", default=term.default, **term.metadata)
    deals = f"deal streams (default: {DEALS}; with --sprt {MOST_DEALS})"
    add("--deals", type=int, help=deals)
    add_shared_options(made, engines)
    kept = "keep results, and skip what it already holds"
    add("--results", metavar="FILE", help=kept)
    add("--record", metavar="FILE", help="write the records of all games, such as games.jsonl")
    sprt = "play until a test accepts one of two leads"
    add("--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help=sprt)


def terms_in(struct: type[Terms | Tournament]) -> list[Field[Any]]:
    """Return the fields of a struct that have an option."""
    return [field for field in fields(struct) if field.metadata]


def _run(options: argparse.Namespace, engines: Engines, command: str) -> int:
    """Play a tournament, print its tables, and write what the options name; `command` made it."""
    if options.quick:
        raise ArenaError("--quick goes with --benchmark")
    if options.deals is None:
        options.deals = MOST_DEALS if options.sprt else DEALS
    tournament = tournament_of(options)
    test = _sequential_test(options, tournament)
    engine, cores = engine_of(options, engines)
    follower = Follower(test, show_line) if test else None
    outcome = play_tournament(tournament, cores, options.results, engine, follower)
    if test and follower:
        show_line(test.progress, end="\n")
        outcome = outcome.first(follower.deals) if test.verdict else outcome
    if options.record:
        with atomic_file(options.record) as file:
            file.writelines(f"{record}\n" for record in outcome.records)
    if outcome.chunks_of(tournament.meetings[0]):
        standings = standings_of(outcome)
        print(standings_text(standings))
        _write(options, outcome, standings, command, test)
    if test:
        print(f"\n{test.sentence(tournament.agents)}")
    if outcome.interrupted:
        kept = f"kept in {options.results}" if options.results else "not kept: use --results FILE"
        done, total = len(outcome.played), len(tournament.tasks)
        raise KeyboardInterrupt(f"{done} of {total} chunks {kept}")
    return 0


def tournament_of(options: argparse.Namespace) -> Tournament:
    """Return the tournament that the options describe."""
    agents = split_specs(options.agents)
    if options.against and options.against not in agents:
        agents = (*agents, options.against)
    how, where = (
        {term.name: getattr(options, term.name) for term in terms_in(struct)}
        for struct in (Terms, Tournament)
    )
    rules = options_in(RulesOptions, options).chosen_rules()
    terms = Terms(rules, record=bool(options.record), **how)
    return Tournament(agents, terms, options.deals, **where)


def _sequential_test(options: argparse.Namespace, tournament: Tournament) -> SequentialTest | None:
    if options.sprt is None:
        return None
    elo0, elo1 = options.sprt
    test = SequentialTest(elo0, elo1, tournament.terms.rules.sides)
    if len(tournament.agents) != 2:
        raise ArenaError(f"--sprt is for two agents, not {len(tournament.agents)}")
    return test


def _write(
    options: argparse.Namespace,
    outcome: TournamentResult,
    standings: Standings,
    command: str,
    test: SequentialTest | None,
) -> None:
    """Write the files that the options name."""
    if options.json:
        content = {
            "options": {name: _plain(value) for name, value in vars(options).items()},
            "command": command,
            "version": code_version(),
            "rules": outcome.tournament.terms.rules.fields(),
            "interrupted": outcome.interrupted,
            "pairs": standings.pairs,
            "differences": standings.differences,
            "ratings": standings.ratings,
            "sprt": test.to_json() if test else None,
        }
        with atomic_file(options.json) as file:
            json.dump(content, file, indent=1, allow_nan=False)
    if options.report:
        from fiveup_env.arena.report import report_html

        with atomic_file(options.report) as file:
            verdict = test.sentence(outcome.tournament.agents) if test else None
            file.write(report_html(outcome, standings, command, verdict))


def _plain(value: object) -> object:
    return None if value == float("inf") else value
