"""Compare agents on duplicate deals, or make a score card: `fiveup evaluate`.

`evaluate.py` in a clone is the same with a laboratory. docs/arena.md explains how to read the
tables, and what else the arena can do.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fiveup_env import Rules
from fiveup_env.arena.benchmark.card import card_json, card_of, card_text
from fiveup_env.arena.benchmark.lonely import measure as measure_alone
from fiveup_env.arena.benchmark.page import card_page
from fiveup_env.arena.benchmark.play import play
from fiveup_env.arena.benchmark.protocol import read_protocol
from fiveup_env.arena.duels import CHUNK
from fiveup_env.arena.faults import ArenaError
from fiveup_env.arena.games import REGRET_EVERY, Terms
from fiveup_env.arena.report import report_html
from fiveup_env.arena.results import code_version
from fiveup_env.arena.sequential import SequentialTest
from fiveup_env.arena.standings import Json, Standings, standings_of
from fiveup_env.arena.tables import regrets_text, standings_text
from fiveup_env.arena.tournament import Engine, Follower, Outcome, Tournament, play_tournament
from fiveup_env.commands.promises import INTERRUPTED, Parser, answer
from fiveup_env.envs.episodes import EPISODES
from fiveup_env.files import atomic_file
from fiveup_env.laboratory import INSTALL, laboratory_needed
from fiveup_env.opponents.registry import listing, make_agent, split_specs
from fiveup_env.progress import show_line
from fiveup_env.rules.fields import parse_assignment

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

# The options that go with --benchmark; the protocol decides about all others.
OF_BENCHMARK = frozenset(
    ("benchmark", "quick", "agents", "engine", "cores", "results", "json", "report")
)
ENGINES = ("local", "ray")
AGENTS = "random,greedy,defensive"
DEALS = 1_000
MOST_DEALS = 100_000  # of a sequential test


@dataclass(frozen=True)
class Laboratory:
    """What only a clone has.

    cluster: returns Ray's engine and the number of its processors.
    bank: returns what measures agents on the bank's positions under some rules.
    """

    cluster: Callable[[], tuple[Engine, int]]
    bank: Callable[[Rules], Callable[[Sequence[str]], list[Json]]]


def main(words: Sequence[str] | None = None, laboratory: Laboratory | None = None) -> int:
    """Run the command line, and return the exit status."""

    def run() -> int:
        options = parser(None if laboratory else "fiveup evaluate").parse_intermixed_args(words)
        given = sys.argv[1:] if words is None else words
        script = ["python", "evaluate.py"] if laboratory else ["fiveup", "evaluate"]
        if options.list:
            print(listing())
            return 0
        if options.specs and options.agents:
            raise ArenaError("name the agents one by one or with --agents, not both")
        options.agents = options.agents or ",".join(options.specs) or AGENTS
        del options.specs
        if options.benchmark:
            return _benchmark(options, laboratory)
        return _run(options, laboratory, shlex.join([*script, *given]))

    return answer("evaluate", run, install=INSTALL)


def parser(program: str | None = None) -> Parser:
    """Return the parser of the command line."""
    made = Parser(
        prog=program, description="Compare agents on duplicate deals, or make a score card."
    )
    add = made.add_argument
    add("--list", action="store_true", help="list the agents and their options")
    add("specs", nargs="*", default=[], metavar="AGENT", help="a spec, as --agents has them")
    add("--agents", metavar="SPECS", help=f"specs, separated by commas (default: {AGENTS})")
    add("--benchmark", metavar="NAME", help="make the score card of an agent, such as fiveup-v1")
    add("--quick", action="store_true", help="with --benchmark: fewer deals, wider intervals")
    add("--against", metavar="SPEC", help="play only the pairs with this agent")
    add("--rules", default="five_up", metavar="PRESET", help="default: five_up")
    add("--players", type=int, default=4, help="2 to 5 (default: 4, as partners)")
    add("--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule field")
    add("--episode", choices=EPISODES, default="game", help="default: game")
    deals = f"deal streams (default: {DEALS}; with --sprt {MOST_DEALS})"
    add("--deals", type=int, help=deals)
    add("--seed", type=int, default=0, help="the first deal stream (default: 0)")
    add("--chunk", type=int, default=CHUNK, help=f"deals played side by side (default: {CHUNK})")
    _add_shared(made)
    kept = "keep results, and skip what it already holds"
    add("--results", metavar="FILE", help=kept)
    add("--record", metavar="FILE", help="write the records of all games, such as games.jsonl")
    add(
        "--regret",
        action="store_true",
        help="measure regret in solved endings (implied by --report)",
    )
    judge = "judge decisions by a search (docs/arena.md)"
    add("--judge", metavar="SPEC", help=judge)
    every = f"judge the decisions of every n-th deal (default: {REGRET_EVERY})"
    add("--judge-every", type=int, default=REGRET_EVERY, metavar="N", help=every)
    luck = "subtract luck from wins (docs/arena.md)"
    add("--without-luck", action="store_true", help=luck)
    sprt = "play until a test accepts one of two leads"
    add("--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help=sprt)
    add("--bank", action="store_true", help="measure regret on the bank of positions, too")
    limit = "seconds allowed for a decision (default: no limit)"
    add("--move-limit", type=float, default=float("inf"), metavar="SECONDS", help=limit)
    forfeit = "an agent at fault loses its game, and play goes on"
    add("--forfeit", action="store_true", help=forfeit)
    return made


def benchmark_parser() -> Parser:
    """Return the parser of `fiveup benchmark`, which takes what a protocol leaves to decide."""
    made = Parser(
        prog="fiveup benchmark", description="Make the score card of an agent by a named benchmark."
    )
    add = made.add_argument
    add("benchmark", metavar="NAME", help="such as fiveup-v1")
    add("--agents", required=True, metavar="SPEC", help="the agent, such as partner")
    add("--quick", action="store_true", help="fewer deals, wider intervals")
    _add_shared(made)
    add("--results", metavar="FOLDER", help="save results, and skip what FOLDER already holds")
    return made


def _add_shared(made: Parser) -> None:
    add = made.add_argument
    add("--engine", choices=ENGINES, default="local", help="ray: play on a Ray cluster")
    add("--cores", type=int, help="number of processes (default: one for each core)")
    add("--json", metavar="FILE", help="write the figures as JSON")
    add("--report", metavar="FILE", help="write a page with plots, such as report.html")


def _benchmark(options: argparse.Namespace, laboratory: Laboratory | None) -> int:
    """Play the tasks of a protocol, measure the rest, and write the card."""
    defaults = parser()
    for name, value in vars(options).items():
        if name not in OF_BENCHMARK and value != defaults.get_default(name):
            raise ArenaError(f"--{name.replace('_', '-')} is for {options.benchmark} to decide")
    protocol, specs = read_protocol(options.benchmark), split_specs(options.agents)
    if len(specs) != 1:
        raise ArenaError(f"--benchmark takes one agent, not {len(specs)}; run it for each")
    make_agent(spec := specs[0])
    engine, cores = _engine(options, laboratory)
    protocol.check()
    outcomes = list(play(protocol, spec, cores, options.results, engine, quick=options.quick))
    if outcomes[-1][1].interrupted:
        kept = f"kept in {options.results}" if options.results else "not kept: use --results FOLDER"
        print(f"evaluate: interrupted; what was played is {kept}", file=sys.stderr)
        return INTERRUPTED
    megabytes, minis = measure_alone(protocol, spec, quick=options.quick)
    card = card_of(protocol, spec, outcomes, megabytes, minis, quick=options.quick)
    print(card_text(card))
    if options.json:
        with atomic_file(options.json) as file:
            file.write(card_json(card))
    if options.report:
        with atomic_file(options.report) as file:
            file.write(card_page(card, protocol))
    return 0


def _run(options: argparse.Namespace, laboratory: Laboratory | None, command: str) -> int:
    """Play a tournament, print its tables, and write what the options name; `command` made it."""
    if options.quick:
        raise ArenaError("--quick goes with --benchmark")
    if options.deals is None:
        options.deals = MOST_DEALS if options.sprt else DEALS
    tournament = _tournament(options)
    test = _sequential_test(options, tournament)
    engine, cores = _engine(options, laboratory)
    measure = _bank(tournament.terms.rules, laboratory) if options.bank else None
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
        rows = measure(tournament.agents) if measure else None
        if rows:
            print(f"\n{regrets_text(rows)}")
        _write(options, outcome, standings, rows, command, test)
    if test:
        print(f"\n{test.sentence(tournament.agents)}")
    if outcome.interrupted:
        kept = f"kept in {options.results}" if options.results else "not kept: use --results FILE"
        done, total = len(outcome.played), len(tournament.tasks)
        print(f"evaluate: interrupted; {done} of {total} chunks {kept}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _engine(
    options: argparse.Namespace, laboratory: Laboratory | None
) -> tuple[Engine | None, int]:
    """Return the engine, None for processes on this machine, and the number of cores."""
    if options.cores is not None and options.cores < 1:
        raise ArenaError(f"--cores must be at least 1, not {options.cores}")
    if options.engine == "ray":
        if laboratory is None:
            raise laboratory_needed("--engine ray")
        engine, processors = laboratory.cluster()
        return engine, options.cores or processors
    return None, options.cores or os.cpu_count() or 1


def _tournament(options: argparse.Namespace) -> Tournament:
    fields = dict(map(parse_assignment, options.set))
    agents = split_specs(options.agents)
    if options.against and options.against not in agents:
        agents = (*agents, options.against)
    terms = Terms(
        Rules.preset(options.rules, options.players, **fields),
        options.episode,
        forfeit=options.forfeit,
        move_limit=options.move_limit,
        regret=options.regret or bool(options.report),
        record=bool(options.record),
        judge=options.judge,
        judge_every=options.judge_every,
        luck=options.without_luck,
    )
    return Tournament(agents, terms, options.deals, options.seed, options.against, options.chunk)


def _sequential_test(options: argparse.Namespace, tournament: Tournament) -> SequentialTest | None:
    if options.sprt is None:
        return None
    elo0, elo1 = options.sprt
    test = SequentialTest(elo0, elo1, tournament.terms.rules.sides)
    if len(tournament.agents) != 2:
        raise ArenaError(f"--sprt is for two agents, not {len(tournament.agents)}")
    if options.without_luck:
        raise ArenaError("--sprt counts games as they were won: leave out --without-luck")
    return test


def _bank(rules: Rules, laboratory: Laboratory | None) -> Callable[[Sequence[str]], list[Json]]:
    """Return what measures agents on the bank's positions under some rules."""
    if laboratory is None:
        raise laboratory_needed("--bank")
    return laboratory.bank(rules)


def _write(
    options: argparse.Namespace,
    outcome: Outcome,
    standings: Standings,
    bank: list[Json] | None,
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
            "bank": bank,
            "sprt": test.to_json() if test else None,
        }
        with atomic_file(options.json) as file:
            json.dump(content, file, indent=1, allow_nan=False)
    if options.report:
        with atomic_file(options.report) as file:
            found = test.sentence(outcome.tournament.agents) if test else None
            file.write(report_html(outcome, standings, command, bank, found))


def _plain(value: object) -> object:
    return None if value == float("inf") else value
