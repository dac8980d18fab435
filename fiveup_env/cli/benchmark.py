"""`fiveup benchmark`: the score card of an agent, by a protocol with a name."""

from __future__ import annotations

import os
from contextlib import nullcontext
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from fiveup_env.arena.benchmark.card import as_text, card_of, card_text
from fiveup_env.arena.benchmark.games import play, quick_size
from fiveup_env.arena.benchmark.isolated import measure
from fiveup_env.arena.benchmark.protocol import FULL, read_protocol
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import make_agent, split_specs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from fiveup_env.arena.play.tournament import Engine
    from fiveup_env.cli.shared import Parser

LOCAL = "local"

# Other engines by their names, for scripts; each is returned with its number of processors.
Engines: TypeAlias = "Mapping[str, Callable[[], tuple[Engine, int]]]"
NO_OTHER_ENGINES: Engines = {}


def add(commands: Any) -> None:
    """Add the command to a parser's commands: it takes what a protocol leaves to decide."""
    made = commands.add_parser("benchmark", help="measure an agent by a named benchmark")
    made.set_defaults(run=benchmark)
    add = made.add_argument
    add("benchmark", metavar="NAME", help="fiveup-v1, or fiveup-text-v1 for language models")
    add("--agents", required=True, metavar="SPEC", help="the agent, such as partner")
    add("--quick", action="store_true", help="fewer deals, wider intervals")
    add_shared_options(made)
    add("--results", metavar="FOLDER", help="save results, and skip what FOLDER already holds")


def add_shared_options(made: Parser, engines: Engines = NO_OTHER_ENGINES) -> None:
    """Add the options that `fiveup evaluate` has, too."""
    add = made.add_argument
    if engines:
        where = ", ".join(engines)
        add("--engine", choices=(LOCAL, *engines), default=LOCAL, help=f"or {where}")
    add("--cores", type=int, help="number of processes (default: one for each core)")
    add("--json", metavar="FILE", help="write the figures as JSON")
    add(
        "--report",
        metavar="FILE",
        type=page_file,
        help="write a page with plots, such as report.html",
    )


def page_file(name: str) -> str:
    """Return the name of a page; raise MissingExtraError now if there will be no plots."""
    import_module("fiveup_env.arena.plots")
    return name


def benchmark(options: argparse.Namespace, engines: Engines = NO_OTHER_ENGINES) -> int:
    """Play the tasks of a protocol, measure the rest, and write the card."""
    protocol, specs = read_protocol(options.benchmark), split_specs(options.agents)
    if len(specs) != 1:
        raise ArenaError(f"--benchmark takes one agent, not {len(specs)}; run it for each")
    make_agent(spec := specs[0])
    engine, cores = engine_of(options, engines)
    protocol.check()
    with nullcontext(options.results) if options.results else TemporaryDirectory() as folder:
        how = (folder, cores, engine)
        size = quick_size(protocol, spec, *how) if options.quick else FULL
        results = list(play(protocol, spec, size, *how))
    if results[-1].interrupted:
        kept = f"kept in {options.results}" if options.results else "not kept: use --results FOLDER"
        raise KeyboardInterrupt(f"what was played is {kept}")
    card = card_of(protocol, spec, size, results, *measure(protocol, spec, size))
    print(card_text(card))
    if options.json:
        with atomic_file(options.json) as file:
            file.write(as_text(card))
    if options.report:
        from fiveup_env.arena.benchmark.page import card_page

        with atomic_file(options.report) as file:
            file.write(card_page(card, protocol))
    return 0


def engine_of(options: argparse.Namespace, engines: Engines) -> tuple[Engine | None, int]:
    """Return the engine, None for processes on this machine, and the number of cores."""
    if options.cores is not None and options.cores < 1:
        raise ArenaError(f"--cores must be at least 1, not {options.cores}")
    if engines and options.engine != LOCAL:
        engine, processors = engines[options.engine]()
        return engine, options.cores or processors
    return None, options.cores or os.cpu_count() or 1
