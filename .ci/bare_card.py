"""Write the figures of a small card and a small tournament: bare_card.py FILE.

They must be the same, bit for bit, from a bare install and in a clone.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from fiveup_env import Rules
from fiveup_env.arena.benchmark.card import TIMES, card_of
from fiveup_env.arena.benchmark.lonely import measure
from fiveup_env.arena.benchmark.play import play
from fiveup_env.arena.benchmark.protocol import read_protocol
from fiveup_env.arena.games import Terms
from fiveup_env.arena.standings import standings_of
from fiveup_env.arena.tournament import Tournament, play_tournament
from fiveup_env.engine.compiled import PACKAGE

AGENT = "student"
AGENTS = ("student", "partner", "policy:family")


def main() -> None:
    """Check that this code plays the protocol, play a little of it, and write the figures."""
    protocol = read_protocol("fiveup-v1")
    protocol.check()
    few = replace(
        protocol,
        tasks=tuple(replace(task, quick=2) for task in protocol.tasks[::2]),  # partners, and three
        minis=protocol.minis[:1],
    )
    outcomes = list(play(few, AGENT, 1, quick=True))
    megabytes, minis = measure(few, AGENT, quick=True)
    figures = card_of(few, AGENT, outcomes, megabytes, minis, quick=True)
    del figures[TIMES]
    met = play_tournament(Tournament(AGENTS, Terms(Rules.preset()), deals=10, seed=1), 1)
    figures["pairs"] = standings_of(met).pairs
    Path(sys.argv[1]).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"{AGENT} by the code in {PACKAGE}: {figures['score']['value']:+.1f} Elo")


if __name__ == "__main__":
    main()
