"""Compare agents on duplicate deals: `python evaluate.py --agents greedy,defensive`.

docs/arena.md explains how to read the tables, and what else the arena can do.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

from agents.arena.bank.regret import measure, rows_of, table_of
from agents.arena.bank.storage import shipped_bank
from agents.arena.benchmark.card import card_json, card_of, card_text
from agents.arena.benchmark.lonely import measure as measure_alone
from agents.arena.benchmark.page import card_page
from agents.arena.benchmark.play import play
from agents.arena.benchmark.protocol import read_protocol
from agents.arena.duels import CHUNK
from agents.arena.faults import ArenaError
from agents.arena.games import REGRET_EVERY, Terms
from agents.arena.report import report_html
from agents.arena.results import code_version
from agents.arena.standings import Json, Standings, standings_of
from agents.arena.tables import standings_text
from agents.arena.tournament import Engine, Outcome, Tournament, play_tournament
from fiveup_env import Rules
from fiveup_env.commands.laboratory import INSTALL
from fiveup_env.commands.promises import INTERRUPTED, Parser, answer
from fiveup_env.envs.episodes import EPISODES
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import listing, make_agent, split_specs
from fiveup_env.rules.fields import parse_assignment

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from agents.arena.bank.storage import Bank

# The options that go with --benchmark; the protocol decides about all others.
OF_BENCHMARK = frozenset(
    ("benchmark", "quick", "agents", "engine", "cores", "results", "json", "report")
)
ENGINES = ("local", "ray")


def main() -> int:
    """Run the command line, and return the exit status."""
    return answer("evaluate", _main, install=INSTALL)


def _main() -> int:
    options = parser().parse_args()
    work = _list if options.list else _benchmark if options.benchmark else _run
    return work(options)


def parser() -> Parser:
    """Return the parser of the command line."""
    made = Parser(description=__doc__.splitlines()[0])
    add = made.add_argument
    add("--list", action="store_true", help="list the agents and their options")
    add("--agents", default="random,greedy,defensive", help="specs, separated by commas")
    add("--benchmark", metavar="NAME", help="make the score card of an agent, such as fiveup-v1")
    add("--quick", action="store_true", help="with --benchmark: fewer deals, wider intervals")
    add("--against", metavar="SPEC", help="play only the pairs with this agent")
    add("--rules", default="five_up", metavar="PRESET", help="default: five_up")
    add("--players", type=int, default=4, help="2 to 5 (default: 4, as partners)")
    add("--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule field")
    add("--episode", choices=EPISODES, default="game", help="default: game")
    add("--deals", type=int, default=1000, help="number of deal streams (default: 1000)")
    add("--seed", type=int, default=0, help="the first deal stream (default: 0)")
    add("--chunk", type=int, default=CHUNK, help=f"deals played side by side (default: {CHUNK})")
    add("--engine", choices=ENGINES, default="local", help="ray: play on a Ray cluster")
    add("--cores", type=int, help="number of processes (default: one for each core)")
    kept = "save results, and skip what FILE (with --benchmark, a folder) already holds"
    add("--results", metavar="FILE", help=kept)
    add("--json", metavar="FILE", help="write the tables as JSON")
    add("--report", metavar="FILE", help="write a page with plots, such as report.html")
    add("--record", metavar="FILE", help="write the records of all games, such as games.jsonl")
    add(
        "--regret",
        action="store_true",
        help="measure regret in solved endings (implied by --report)",
    )
    judge = "judge decisions by a reference search, such as pimc:worlds=200,playout=partner"
    add("--judge", metavar="SPEC", help=judge)
    every = f"judge the decisions of every n-th deal (default: {REGRET_EVERY})"
    add("--judge-every", type=int, default=REGRET_EVERY, metavar="N", help=every)
    luck = "subtract luck from wins: narrower intervals, for a time of its own (docs/arena.md)"
    add("--without-luck", action="store_true", help=luck)
    add("--bank", action="store_true", help="measure regret on the bank of positions, too")
    limit = "seconds allowed for a decision (default: no limit)"
    add("--move-limit", type=float, default=float("inf"), metavar="SECONDS", help=limit)
    forfeit = "an agent at fault loses its game instead of ending the tournament"
    add("--forfeit", action="store_true", help=forfeit)
    return made


def _list(options: argparse.Namespace) -> int:
    del options
    print(listing())
    return 0


def _benchmark(options: argparse.Namespace) -> int:
    """Play the tasks of a protocol, measure the rest, and write the card."""
    for name, value in vars(options).items():
        if name not in OF_BENCHMARK and value != parser().get_default(name):
            raise ArenaError(f"--{name.replace('_', '-')} is for {options.benchmark} to decide")
    protocol, specs = read_protocol(options.benchmark), split_specs(options.agents)
    if len(specs) != 1:
        raise ArenaError(f"--benchmark takes one agent, not {len(specs)}; run it for each")
    make_agent(spec := specs[0])
    protocol.check()
    engine, cores = _engine(options)
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


def _run(options: argparse.Namespace) -> int:
    if options.quick:
        raise ArenaError("--quick goes with --benchmark")
    tournament = _tournament(options)
    engine, cores = _engine(options)
    bank = _bank(tournament) if options.bank else None
    outcome = play_tournament(tournament, cores, options.results, engine)
    if options.record:
        with atomic_file(options.record) as file:
            file.writelines(f"{record}\n" for record in outcome.records)
    if outcome.chunks_of(tournament.meetings[0]):
        standings = standings_of(outcome)
        print(standings_text(standings))
        rows = _bank_rows(bank, tournament.agents) if bank else None
        if rows:
            print(f"\n{table_of(rows)}")
        _write(options, outcome, standings, rows)
    if outcome.interrupted:
        kept = f"kept in {options.results}" if options.results else "not kept: use --results FILE"
        done, total = len(outcome.played), len(tournament.tasks)
        print(f"evaluate: interrupted; {done} of {total} chunks {kept}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _engine(options: argparse.Namespace) -> tuple[Engine | None, int]:
    """Return the engine, None for processes on this machine, and the number of cores."""
    if options.cores is not None and options.cores < 1:
        raise ArenaError(f"--cores must be at least 1, not {options.cores}")
    if options.engine == "ray":
        from agents.cluster.arena import play_on_cluster
        from agents.cluster.connection import processors

        return play_on_cluster, options.cores or processors()
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


def _bank(tournament: Tournament) -> Bank:
    """Return the bank's positions under the rules of a tournament."""
    bank = shipped_bank().under([tournament.terms.rules])
    if not len(bank):
        raise ArenaError("--bank: the bank has no positions under these rules, only under presets")
    return bank


def _bank_rows(bank: Bank, agents: Sequence[str]) -> list[Json]:
    return rows_of(bank, [measure(bank, make_agent(spec), spec) for spec in agents])


def _write(
    options: argparse.Namespace,
    outcome: Outcome,
    standings: Standings,
    bank: list[Json] | None,
) -> None:
    """Write the files that the options name."""
    if options.json:
        content = {
            "options": {name: _plain(value) for name, value in vars(options).items()},
            "version": code_version(),
            "rules": outcome.tournament.terms.rules.fields(),
            "interrupted": outcome.interrupted,
            "pairs": standings.pairs,
            "differences": standings.differences,
            "ratings": standings.ratings,
            "bank": bank,
        }
        with atomic_file(options.json) as file:
            json.dump(content, file, indent=1, allow_nan=False)
    if options.report:
        command = shlex.join(["python", "evaluate.py", *sys.argv[1:]])
        with atomic_file(options.report) as file:
            file.write(report_html(outcome, standings, command, bank))


def _plain(value: object) -> object:
    return None if value == float("inf") else value


if __name__ == "__main__":
    sys.exit(main())
