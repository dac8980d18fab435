"""The command line: `fiveup --help`, or `python -m fiveup_env --help`."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env import __version__
from fiveup_env.commands.promises import Parser, answer
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError, RulesError
from fiveup_env.files import atomic_file, is_stream
from fiveup_env.game.game import Game
from fiveup_env.game.records import dumps, read_file
from fiveup_env.progress import progress
from fiveup_env.rules.fields import FIELDS, MAX_PLAYERS, MIN_PLAYERS, Rules, parse_assignment
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""

    def run() -> int:
        made = parser()
        options, rest = made.parse_known_args(arguments)
        if "specs" in options:  # agents may be named before and after options
            options.specs += rest
        elif rest:
            made.refuse(rest[0])
        return int(options.run(options))

    return answer("fiveup", run)


def parser() -> Parser:
    """Return the parser of the command line."""
    made = Parser(prog="fiveup", description="Five Up and its family of domino games.")
    made.add_argument("--version", action="version", version=__version__)
    commands = made.add_subparsers(required=True, metavar="COMMAND", dest="command")
    _add_play(commands)
    _add_arena(commands)
    _add_records(commands)
    _add_study(commands)

    rules = commands.add_parser("rules", help="print the presets and their fields side by side")
    rules.set_defaults(run=_rules)
    rules.add_argument(
        "preset", nargs="?", metavar="PRESET", help="only this preset, for every number of players"
    )

    doctor = commands.add_parser("doctor", help="say what is installed, and what is wrong with it")
    doctor.set_defaults(run=_doctor)
    return made


def _add_arena(commands: Any) -> None:
    from fiveup_env.commands.evaluate import add_benchmark_options, add_options

    evaluate = commands.add_parser("evaluate", help="compare agents on duplicate deals")
    evaluate.set_defaults(run=_evaluate)
    add_options(evaluate)
    benchmark = commands.add_parser("benchmark", help="measure an agent by a named benchmark")
    benchmark.set_defaults(run=_benchmark)
    add_benchmark_options(benchmark)


def _add_records(commands: Any) -> None:
    record = commands.add_parser("record", help="play random games and write them as records")
    record.set_defaults(run=_record)
    record.add_argument("--rules", default="five_up", metavar="PRESET", help="default: five_up")
    record.add_argument("--players", type=int, default=4, help="2 to 5 (default: 4, as partners)")
    record.add_argument("--games", type=int, default=1, help="number of games (default: 1)")
    record.add_argument("--seed", type=int, default=0, help="game k has seed SEED + k (default: 0)")
    record.add_argument("--legal", action="store_true", help="with each play, list the legal ones")
    record.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule field"
    )
    record.add_argument(
        "--max-hands", type=int, default=500, help="cut games off after n hands (default: 500)"
    )
    record.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="file to write, one record per line"
    )

    check = commands.add_parser("check", help="verify records; exit status 1 if one is invalid")
    check.set_defaults(run=_check)
    check.add_argument("file", metavar="FILE", help="a file of records, one per line")

    show = commands.add_parser("show", help="print a recorded game as text")
    show.set_defaults(run=_show)
    show.add_argument("file", metavar="FILE", help="a file of records, one per line")
    show.add_argument("--game", type=int, default=0, help="which game, counted from 0 (default: 0)")

    replay = commands.add_parser("replay", help="write an HTML page that replays a recorded game")
    replay.set_defaults(run=_replay)
    replay.add_argument("file", metavar="FILE", help="a file of records, one per line")
    replay.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="page to write, such as game.html"
    )
    replay.add_argument(
        "--game", type=int, default=0, help="which game, counted from 0 (default: 0)"
    )


def _add_play(commands: Any) -> None:
    play = commands.add_parser("play", help="play against agents, in the browser or the terminal")
    play.set_defaults(run=_play)
    play.add_argument("--rules", default="five_up", metavar="PRESET", help="default: five_up")
    play.add_argument("--players", type=int, default=4, help="2 to 5 (default: 4, as partners)")
    play.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule field"
    )
    play.add_argument("--seat", type=int, default=0, help="your seat (default: 0)")
    play.add_argument(
        "--opponents",
        default="partner",
        metavar="SPECS",
        help="one agent, or one for each other seat, such as partner,pimc:ms=50,student",
    )
    play.add_argument("--seed", type=int, help="the deals (default: chosen at random)")
    play.add_argument("--terminal", action="store_true", help="play here instead of in a browser")
    play.add_argument(
        "--advisers",
        metavar="SPECS",
        help="agents that may be asked what each move is worth, such as pimc:ms=200",
    )
    _add_server(play)


def _add_study(commands: Any) -> None:
    study = commands.add_parser("study", help="judge recorded games in the browser")
    study.set_defaults(run=_study)
    study.add_argument("file", nargs="?", metavar="FILE", help="a file of records, one per line")
    _add_server(study)


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reference", metavar="SPEC", help="the pimc that judges games (default: 1,000 worlds)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--port", type=int, help="default: the first free one from 8561 on")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def _evaluate(options: argparse.Namespace) -> int:
    from fiveup_env.commands.evaluate import evaluate

    del options.run, options.command
    return evaluate(options, shlex.join(["fiveup", *sys.argv[1:]]))


def _benchmark(options: argparse.Namespace) -> int:
    from fiveup_env.commands.evaluate import benchmark

    del options.run, options.command
    return benchmark(options)


def _doctor(_options: argparse.Namespace) -> int:
    from fiveup_env.commands.doctor import examine

    report = examine()
    print(report.text())
    return 1 if report.faults else 0


def _record(options: argparse.Namespace) -> int:
    for name in ("games", "max_hands"):
        if getattr(options, name) < 1:
            raise InputError(
                f"--{name.replace('_', '-')} must be at least 1, not {getattr(options, name)}"
            )
    fields = dict(map(parse_assignment, options.set))
    rules = Rules.preset(options.rules, options.players, **fields)
    checked_seed(options.seed)
    checked_seed(options.seed + options.games - 1)
    complete = 0
    with atomic_file(options.output) as file:
        for game in progress(_random_games(options, rules), options.games, "games"):
            file.write(dumps(game, legal=options.legal) + "\n")
            complete += game.outcome() is not None
    cut_off = options.games - complete
    _report(options, f"{options.games} games written to {options.output}; {cut_off} cut off")
    return 0


def _report(options: argparse.Namespace, sentence: str) -> None:
    """Say what was written, and where; not on standard output if that may be the place."""
    print(sentence, file=sys.stderr if is_stream(options.output) else sys.stdout)


def _random_games(options: argparse.Namespace, rules: Rules) -> Iterator[Game]:
    for seed in range(options.seed, options.seed + options.games):
        game, choice = Game(rules, seed=seed), np.random.default_rng(seed)
        while game.outcome() is None and game.hand_number < options.max_hands:
            moves = list(game.legal_moves)
            game.push(moves[choice.integers(len(moves))])
        yield game


def _check(options: argparse.Namespace) -> int:
    good, bad = 0, 0
    for line in read_file(options.file):
        if line.error is None:
            good += 1
        else:
            bad += 1
            print(line.error)
    print(f"{good} valid, {bad} invalid")
    return 1 if bad else 0


def _show(options: argparse.Namespace) -> int:
    from fiveup_env.drawing.transcript import transcript

    unicode = "utf" in (sys.stdout.encoding or "").lower()
    print(transcript(_chosen_game(options), unicode=unicode))
    return 0


def _replay(options: argparse.Namespace) -> int:
    from fiveup_env.drawing.replay import replay_html

    page = replay_html(_chosen_game(options))
    with atomic_file(options.output) as file:
        file.write(page)
    _report(options, f"game {options.game} of {options.file} written to {options.output}")
    return 0


def _play(options: argparse.Namespace) -> int:
    from fiveup_env.opponents.registry import make_agent, split_specs
    from fiveup_env.play.table import Setup, Table

    fields = dict(map(parse_assignment, options.set))
    if options.seed is not None:
        checked_seed(options.seed)
    setup = Setup(
        rules=Rules.preset(options.rules, options.players, **fields),
        seat=options.seat,
        opponents=options.opponents,
        seed=options.seed,
    )
    if options.terminal:
        from fiveup_env.play.terminal import play_in_terminal

        play_in_terminal(Table(setup))
        return 0
    advisers = split_specs(options.advisers or "")
    for spec in advisers:
        make_agent(spec)
    _serve(options, "/", default=setup, **({"advisers": advisers} if advisers else {}))
    return 0


def _study(options: argparse.Namespace) -> int:
    games = []
    for line in read_file(options.file) if options.file else ():
        if line.game is None:
            raise InputError(line.error)
        games.append(line.game)
    _serve(options, "/study", games=games)
    return 0


def _serve(options: argparse.Namespace, path: str, **house: Any) -> None:
    from fiveup_env.judging.trials import REFERENCE, checked_reference
    from fiveup_env.play.launch import House, serve

    reference = options.reference or REFERENCE
    checked_reference(reference)
    serve(
        House(reference=reference, **house),
        host=options.host,
        port=options.port,
        path=path,
        browser=not options.no_browser,
    )


def _chosen_game(options: argparse.Namespace) -> Game:
    """Return the game that the options choose from a file of records."""
    for number, line in enumerate(read_file(options.file)):
        if number == options.game:
            if line.game is None:
                raise InputError(line.error)
            return line.game
    raise InputError(f"{options.file} has no game {options.game}")


def _rules(options: argparse.Namespace) -> int:
    if options.preset is None:
        columns = {name: Rules.preset(name) for name in PRESETS}
        print("Four players as partners; for 2 to 5 players give a preset: rules PRESET\n")
    else:
        columns = {f"{rules.players} players": rules for rules in _dealable(options.preset)}
        print(f"{options.preset}\n")
    rows = [
        ("", *columns),
        *(
            (field, *(str(getattr(rules, field)) for rules in columns.values()))
            for field in (*FIELDS, "teams")
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    return 0


def _dealable(preset: str) -> Iterator[Rules]:
    """Yield the rules of a preset for every number of players that it can be dealt to."""
    yield Rules.preset(preset, MIN_PLAYERS)
    for players in range(MIN_PLAYERS + 1, MAX_PLAYERS + 1):
        with suppress(RulesError):  # too few tiles
            yield Rules.preset(preset, players)


if __name__ == "__main__":
    sys.exit(main())
