"""What a data set is made from: everything that its rows depend on, and their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from fiveup_env.checks import whole
from fiveup_env.encoders import get_encoder
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError, shown
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.world_search import Searcher
from fiveup_env.rules.fields import Rules

MOST_POSITIONS: Final = 10**10
POSITIONS_IN_SHARD: Final = 25_000
SPLITS: Final = {"train": 1, "validation": 20, "test": 20}  # a split has positions // this number

COLUMNS: Final = {
    "seed": "the game: `Game(preset, players=players, seed=seed)`",
    "preset": "its rules",
    "players": "the number of players",
    "hand": "the hand of the game, from 0",
    "decision": "moves made in the game before, forced ones included",
    "seat": "the seat to move",
    "agent": "the agent that chose the action",
    "mask": "1 for every legal action",
    "action": "the action that was played",
    "win_return": "what the game still brings the seat, by reward `win`",
    "margin_return": "what the hand still brings the seat, by reward `margin`",
    "observation": "what the seat observes, by the encoder",
    "values": "the search's value of every action: the chance to win, or points with `aim=hand`; "
    "-inf where there is none",
    "errors": "the standard error of the action's difference from the best, from the worlds that "
    "both were tried in; 0 for the best, NaN where there is no value",
    "marginals": "six rows of 28 tiles: the exact chance of each tile to be in each hand, seats "
    "counted from the observer, and in the boneyard",
    "prompt": "with `--text`: the rules and the position in words",
    "moves": "with `--text`: the legal moves in words, a line each, in the order of their actions",
    "deductions": "with `--text`: what follows exactly about the hidden tiles, in words",
}


class DataError(InputError):
    """Decision data that cannot be made as asked, or that cannot be read."""


class Shard(NamedTuple):
    """One file of a split, whose games are its own."""

    split: str
    number: int
    files: int  # of the split
    positions: int  # at least; a shard ends with a whole game

    @property
    def file(self) -> str:
        """The name of the file, by which `datasets` knows its split."""
        return f"{self.split}-{self.number:05}-of-{self.files:05}.parquet"

    @property
    def key(self) -> tuple[int, int]:
        """The path from the plan's seed to the seeds of the shard's games."""
        return list(SPLITS).index(self.split), self.number


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The sources of a data set. The same plan and code make the same bytes on any cores.

    Attributes:
        agents: Specs; each side of a game is played by one of them, drawn at random.
        positions: The number of rows of the split `train`, at least.
        values: The spec of the search that values every action.
        text: Whether rows also say in words what the seat knows.
    """

    agents: tuple[str, ...]
    positions: int
    values: str = "pimc:worlds=64"
    seed: int = 0
    rules: tuple[str, ...] = ("five_up",)
    players: tuple[int, ...] = (4,)
    encoder: str = "flat"
    text: bool = False

    def __post_init__(self) -> None:
        """Refuse what no data can be made of."""
        if whole(self.positions, 1, MOST_POSITIONS) is None:
            raise DataError(
                f"--positions must be from 1 to {MOST_POSITIONS:,}, not {shown(self.positions)}"
            )
        checked_seed(self.seed)
        get_encoder(self.encoder)
        if not (self.agents and self.all_rules):
            raise DataError("name at least one agent, one preset and one number of players")
        for spec in (*self.agents, self.values):
            if getattr(make_agent(spec), "ms", 0):
                raise DataError(
                    f"{spec} has a budget of time, so nobody could make the same data again: give "
                    "it worlds instead"
                )
        self.searcher()

    @property
    def all_rules(self) -> list[Rules]:
        """The rules of every combination of preset and number of players."""
        return [Rules.preset(name, count) for name in self.rules for count in self.players]

    @property
    def shards(self) -> list[Shard]:
        """The files of all splits."""
        shards = []
        for split, part in SPLITS.items():
            starts = range(0, -(-self.positions // part), POSITIONS_IN_SHARD)
            sizes = [min(POSITIONS_IN_SHARD, -(-self.positions // part) - k) for k in starts]
            shards += [Shard(split, k, len(sizes), size) for k, size in enumerate(sizes)]
        return shards

    def searcher(self) -> Searcher:
        """Return the search that values every action."""
        agent = make_agent(self.values)
        if not isinstance(agent, Searcher):
            raise DataError(
                f"{self.values} has no values with errors for every action; pimc and "
                "student+search do"
            )
        return agent
