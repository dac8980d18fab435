"""Exact results about small games, from the command line.

python -m agents.exact size mini-3              show how large a game is
python -m agents.exact solve mini-2             find its value and an equilibrium by CFR+
python -m agents.exact exploit mini-2 greedy    show what best replies gain against an agent
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fiveup_env.cli.shared import Parser, answer, rules_of
from fiveup_env.exact.form import form_of
from fiveup_env.exact.histories import MOST_HISTORIES, estimated_size
from fiveup_env.exact.profiles import TIMES, profile_of
from fiveup_env.exact.solutions import size_of, solve, value_range, write_solution
from fiveup_env.exact.values import exploitability, nash_conv_of_random
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from fiveup_env.rules.fields import Rules


def main() -> int:
    """Run the command given on the command line and return its exit status."""
    return answer("exact", _run)


def _run() -> int:
    options = _parser().parse_args()
    return int(options.work(rules_of(options), options))


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.exact",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, work: object, about: str) -> Parser:
        one = commands.add_parser(name, help=about, description=about)
        one.set_defaults(work=work)
        one.add_argument("rules", help="a preset, such as mini-2")
        one.add_argument(
            "--players", type=int, default=2, metavar="N", help="number of players (default: 2)"
        )
        one.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
        one.add_argument(
            "--most",
            type=int,
            default=MOST_HISTORIES,
            metavar="N",
            help="the most histories to enumerate, at 150 bytes each (default: %(default)s)",
        )
        return one

    size = command("size", _size, "show how large a game is")
    size.add_argument(
        "--estimate", action="store_true", help="estimate from random hands, for a game of any size"
    )
    solving = command("solve", _solve, "find the value of a game and an equilibrium")
    solving.add_argument(
        "--share",
        type=float,
        default=1e-6,
        help="NashConv to stop at, as a share of the range of payoffs",
    )
    solving.add_argument("--rounds", type=int, default=100_000, help="the most rounds of CFR+")
    solving.add_argument("--output", type=Path, metavar="FILE", help="write the solution as JSON")
    exploit = command("exploit", _exploit, "show what best replies gain against agents")
    exploit.add_argument("agents", nargs="+", help="specs such as greedy, policy:FOLDER,sample=1")
    exploit.add_argument(
        "--times",
        type=int,
        default=TIMES,
        help=f"how often to ask an agent that does not report its probabilities (default: {TIMES})",
    )
    return parser


def _size(rules: Rules, options: argparse.Namespace) -> int:
    if options.estimate:
        print(f"about {estimated_size(rules):.1e} histories")
        return 0
    for name, value in size_of(form_of(rules, options.most)).items():
        print(f"{name.replace('_', ' '):<20}{value}")
    return 0


def _solve(rules: Rules, options: argparse.Namespace) -> int:
    solution = solve(form_of(rules, options.most), options.share, options.rounds)
    form, result = solution.form, exploitability(solution.form, solution.profile)
    values = " ".join(f"{value:+.6f}" for value in result.values)
    print(f"value by seat      {values}   (points less the mean of the others'; seat 0 leads)")
    print(f"NashConv           {result.nash_conv:.1e}   (range of payoffs: {value_range(form):g})")
    print(f"CFR+               {solution.rounds} rounds, {solution.seconds:.0f} s")
    if options.output:
        write_solution(
            options.output, solution, " ".join(["python -m agents.exact", *sys.argv[1:]])
        )
    return 0


def _exploit(rules: Rules, options: argparse.Namespace) -> int:
    form = form_of(rules, options.most)
    span, random = value_range(form), nash_conv_of_random(form)
    print(f"{'':<40}{'NashConv':>9}{'of range':>10}{'of random':>11}   gain by seat")
    for spec in options.agents:
        agent = make_agent(spec)
        result = exploitability(form, profile_of(form, agent, options.times))
        gains = " ".join(f"{gain:.4f}" for gain in result.best - result.values)
        shares = f"{result.nash_conv / span:>10.1%}{result.nash_conv / random:>11.1%}"
        print(f"{spec:<40}{result.nash_conv:>9.4f}{shares}   {gains}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
