"""A new bank: positions from games between agents of all strengths, and their values."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.bank.storage import Bank, BankError
from agents.fitting.reference import AIM, PLAYOUT, ActionValues, action_values, checked_worlds
from fiveup_env.arena.results import code_version
from fiveup_env.engine.view import VIEW
from fiveup_env.envs.batch import Batch
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.progress import progress
from fiveup_env.rules.fields import MAX_PLAYERS, Rules
from fiveup_env.rules.presets import PRESETS

PLAYERS: Final = (
    "random",
    "greedy",
    "defensive",
    "partner",
    "pimc:worlds=64",
    "policy:partners",
    "policy:family",
)
EVERY_RULES: Final = [Rules.preset(name, players) for name in PRESETS for players in (2, 3, 4, 5)]
DEFAULT_SHARE: Final = 8  # more games by the default rules, for one by each of all rules
PORTION: Final = 64  # positions that are searched together
MOST_MOVES: Final = 1_000  # of a game; some between random players would take many more
PHASES: Final = ("opening", "middle", "ending")


def phases_of(views: np.ndarray) -> np.ndarray:
    """Return the phase of the hand in every view, as an index of PHASES.

    It is a matter of the smallest hand: more than two thirds, more than one third, or less of the
    tiles dealt to it.
    """
    public, rules = views["public"], views["public"]["rules"]
    seated = np.arange(MAX_PLAYERS) < rules["players"][:, None]
    smallest = np.where(seated, public["sizes"], np.iinfo(np.int8).max).min(1).astype(np.int64)
    return np.clip(2 - (3 * smallest - 1) // rules["hand_size"], 0, 2)


def make_bank(rounds: int, worlds: int, seed: int, command: str) -> Bank:
    """Return a new bank, the same for the same numbers by the same code."""
    checked_worlds(worlds)
    views, games, players = gather(rounds, seed)
    rng, starts = keyed_rng("values of the bank", seed, worlds), range(0, len(views), PORTION)
    parts = [
        action_values(views[k : k + PORTION], worlds, rng)
        for k in progress(starts, len(starts), "portions")
    ]
    values = ActionValues(
        np.concatenate([part.halves for part in parts]),
        np.concatenate([part.errors for part in parts]),
    )
    about = {
        "command": command,
        "code": code_version(),
        "seed": seed,
        "rounds": rounds,
        "worlds": worlds,
        "playout": PLAYOUT,
        "aim": AIM,
        "players": PLAYERS,
    }
    return Bank(views, games, players, values, about)


def gather(rounds: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play games; return some views that leave a choice, their games and players.

    In a round, a game is played by every one of EVERY_RULES, and some more by the default rules.
    Each side is played by one of PLAYERS, drawn at random. Every game gives a view of each phase,
    drawn from all that its players met. The deals are named: those from `seed` on.
    """
    listed = [Rules.preset()] * DEFAULT_SHARE + EVERY_RULES
    batch = Batch(rounds * len(listed), listed)
    if not 0 <= seed <= FIRST_OF_STREAMS - len(batch):
        raise BankError(
            f"deals must be from 0 to below {FIRST_OF_STREAMS:,}, where those of training begin, "
            f"not {seed:,} and the {len(batch) - 1:,} that follow"
        )
    games = np.arange(len(batch))
    batch.reset(seed + games)
    rng, agents = np.random.default_rng(seed), [make_agent(spec) for spec in PLAYERS]
    agents_rng = keyed_rng("games of the bank", seed)
    seated = rng.integers(len(agents), size=(len(batch), MAX_PLAYERS))  # by side
    sides, size = batch.states["public"]["rules"]["sides"], (len(batch), len(PHASES))
    views, met = np.zeros(size, VIEW), np.zeros(size)
    for _ in range(MOST_MOVES):
        going = games[~batch.terminated]
        if not len(going):
            break
        seen = batch.views(going)
        choice = np.flatnonzero(batch.action_mask[going].sum(1) > 1)
        phases = phases_of(seen[choice])
        met[going[choice], phases] += 1
        # The k-th view of a phase replaces the one drawn before with a probability of 1 / k.
        drawn = rng.random(len(choice)) * met[going[choice], phases] < 1
        choice, phases = choice[drawn], phases[drawn]
        views[going[choice], phases] = seen[choice]
        movers, actions = seated[going, seen["seat"] % sides[going]], np.empty(len(going), np.int64)
        for k, agent in enumerate(agents):
            if len(own := np.flatnonzero(movers == k)):
                actions[own] = agent(seen[own], agents_rng)
        batch.advance(actions, going)
    game, phase = np.nonzero(met)
    views = views[game, phase]
    return views, game, seated[game, views["seat"] % sides[game]]
