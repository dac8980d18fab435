"""`fiveup exact`: exact results about games small enough to solve."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fiveup_env.cli.shared import RulesOptions, add_command, option
from fiveup_env.exact.form import Form, form_of
from fiveup_env.exact.histories import MOST_HISTORIES, estimated_size
from fiveup_env.exact.profiles import TIMES, profile_of
from fiveup_env.exact.solutions import size_of, solve, value_range, write_solution
from fiveup_env.exact.values import exploitability, nash_conv_of_random
from fiveup_env.opponents.registry import make_agent


@dataclass(frozen=True, kw_only=True)
class GameOptions(RulesOptions):
    """A small game."""

    rules: str = option("rules", help="a preset, such as mini-2")
    players: int = option(type=int, default=2, metavar="N", help="number of players (default: 2)")
    most: int = option(
        type=int,
        default=MOST_HISTORIES,
        metavar="N",
        help="the most histories to enumerate, at 150 bytes each (default: %(default)s)",
    )

    def form(self) -> Form:
        """Return the game in sequence form."""
        return form_of(self.chosen_rules(), self.most)


@dataclass(frozen=True, kw_only=True)
class SizeOptions(GameOptions):
    """How a game is measured."""

    estimate: bool = option(
        action="store_true", help="estimate from random hands, for a game of any size"
    )


@dataclass(frozen=True, kw_only=True)
class SolveOptions(GameOptions):
    """How a game is solved."""

    share: float = option(
        type=float, default=1e-6, help="NashConv to stop at, as a share of the range of payoffs"
    )
    rounds: int = option(type=int, default=100_000, help="the most rounds of CFR+")
    output: Path | None = option(type=Path, metavar="FILE", help="write the solution as JSON")


@dataclass(frozen=True, kw_only=True)
class ExploitOptions(GameOptions):
    """Whom best replies are played against."""

    agents: list[str] = option(
        "agents", nargs="+", help="specs such as greedy, policy:FOLDER,sample=1"
    )
    times: int = option(
        type=int,
        default=TIMES,
        help=f"how often to ask an agent that does not report its probabilities (default: {TIMES})",
    )


def add(commands: Any) -> None:
    """Add the command, which has commands of its own, to a parser's commands."""
    made = commands.add_parser("exact", help="solve small games, and measure agents against them")
    parts = made.add_subparsers(required=True, metavar="COMMAND")
    add_command(parts, "size", "show how large a game is", size, SizeOptions)
    add_command(
        parts, "solve", "find its value and an equilibrium by CFR+", solve_game, SolveOptions
    )
    gains = "show what best replies gain against agents"
    add_command(parts, "exploit", gains, exploit, ExploitOptions)


def size(options: SizeOptions) -> int:
    """Print the size of a game, and return the exit status."""
    if options.estimate:
        print(f"about {estimated_size(options.chosen_rules()):.1e} histories")
        return 0
    for name, value in size_of(options.form()).items():
        print(f"{name.replace('_', ' '):<20}{value}")
    return 0


def solve_game(options: SolveOptions) -> int:
    """Print the value of a game, and return the exit status."""
    solution = solve(options.form(), options.share, options.rounds)
    form, result = solution.form, exploitability(solution.form, solution.profile)
    values = " ".join(f"{value:+.6f}" for value in result.values)
    print(f"value by seat      {values}   (points less the mean of the others'; seat 0 leads)")
    print(f"NashConv           {result.nash_conv:.1e}   (range of payoffs: {value_range(form):g})")
    print(f"CFR+               {solution.rounds} rounds, {solution.seconds:.0f} s")
    if options.output:
        write_solution(options.output, solution, " ".join(["fiveup", *sys.argv[1:]]))
    return 0


def exploit(options: ExploitOptions) -> int:
    """Print what best replies gain, and return the exit status."""
    form = options.form()
    span, random = value_range(form), nash_conv_of_random(form)
    print(f"{'':<40}{'NashConv':>9}{'of range':>10}{'of random':>11}   gain by seat")
    for spec in options.agents:
        agent = make_agent(spec)
        result = exploitability(form, profile_of(form, agent, options.times))
        gains = " ".join(f"{gain:.4f}" for gain in result.best - result.values)
        shares = f"{result.nash_conv / span:>10.1%}{result.nash_conv / random:>11.1%}"
        print(f"{spec:<40}{result.nash_conv:>9.4f}{shares}   {gains}", flush=True)
    return 0
