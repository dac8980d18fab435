"""What a data set is made from: everything that its rows depend on, and the columns of its rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

from fiveup_env.belief.structs import BONEYARD
from fiveup_env.checks import whole
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError, shown
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    import numpy as np

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.opponents.search.world_statistics import WorldStatistics

POSITIONS_IN_SHARD: Final = 25_000
MOST_POSITIONS: Final = 10**10
SPLITS: Final = {"train": 90, "validation": 5, "test": 5}  # per cent of the deals


class DataError(InputError):
    """Decision data that cannot be made as asked, or that are damaged."""


@runtime_checkable
class Searcher(Protocol):
    """An agent that says what worlds show about every action: `pimc`, `student+search`."""

    aim: str

    def search(self, views: np.ndarray, rng: np.random.Generator, /) -> WorldStatistics:
        """Return what worlds show about the legal actions of some views."""


class Column(NamedTuple):
    """A column: its name, the type and the length of its entries (0: a single value), and more."""

    name: str
    kind: str
    length: int
    about: str


TEXT_COLUMNS: Final = (
    Column("prompt", "string", 0, "the rules and the position in words, for a language model"),
    Column("moves", "string", 0, "the legal moves in words, a line each, by their actions"),
    Column("deductions", "string", 0, "what follows exactly about the hidden tiles, in words"),
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a data set is made from. The same plan and code make the same bytes on any cores."""

    agents: tuple[str, ...]
    positions: int
    values: str = "pimc:worlds=64"
    seed: int = 0
    shards: int | None = None  # None: one for every POSITIONS_IN_SHARD
    rules: tuple[str, ...] = ("five_up",)
    players: tuple[int, ...] = (4,)
    encoder: str = "flat"
    text: bool = False  # whether rows also say in words what the seat knows

    def __post_init__(self) -> None:
        """Refuse what no data can be made of."""
        if whole(self.positions, 1, MOST_POSITIONS) is None:
            raise DataError(
                f"--positions must be from 1 to {MOST_POSITIONS:,}, not {shown(self.positions)}"
            )
        if whole(self.files, 1, self.positions) is None:
            raise DataError(
                f"--shards must be from 1 to {self.positions:,}, the number of positions, not "
                f"{shown(self.shards)}"
            )
        object.__setattr__(self, "seed", checked_seed(self.seed))
        get_encoder(self.encoder)
        if not (self.agents and self.rules and self.players):
            raise DataError("name at least one agent, one preset and one number of players")
        self.all_rules  # noqa: B018 - raises RulesError
        self._keep_plain_integers()
        for spec in (*self.agents, self.values):
            if getattr(make_agent(spec), "ms", 0):
                raise DataError(
                    f"{spec} has a budget of time, so nobody could make the same data again: give "
                    "it worlds instead"
                )
        self.searcher()

    def _keep_plain_integers(self) -> None:
        """Replace NumPy's integers, which JSON does not know."""
        object.__setattr__(self, "positions", int(self.positions))
        object.__setattr__(self, "shards", None if self.shards is None else int(self.shards))
        object.__setattr__(self, "players", tuple(int(count) for count in self.players))

    @property
    def files(self) -> int:
        """The number of shards."""
        return -(-self.positions // POSITIONS_IN_SHARD) if self.shards is None else self.shards

    @property
    def all_rules(self) -> list[Rules]:
        """The rules of every combination of preset and number of players."""
        return [Rules.preset(name, count) for name in self.rules for count in self.players]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        unit = "points" if self.aim == "hand" else f"chance to win ({self.aim})"
        row = row_size(get_encoder(self.encoder))
        return (*self._columns_of_numbers(unit, row), *(TEXT_COLUMNS if self.text else ()))

    def _columns_of_numbers(self, unit: str, row: int) -> tuple[Column, ...]:
        return (
            Column("seed", "uint64", 0, "the game: `Game(preset, players=players, seed=seed)`"),
            Column("preset", "string", 0, "its rules"),
            Column("players", "int8", 0, "the number of players"),
            Column("hand", "int32", 0, "the hand of the game, from 0"),
            Column("decision", "int32", 0, "moves made in the game before, forced ones included"),
            Column("seat", "int8", 0, "the seat to move"),
            Column("agent", "string", 0, "the agent that chose the action"),
            Column("split", "string", 0, "train, validation or test: by game"),
            Column("observation", "int8", row, f"what the seat observes ({self.encoder})"),
            Column("mask", "int8", ACTION_COUNT, "1 for every legal action"),
            Column("action", "int16", 0, "the action that was played"),
            Column("win_return", "float32", 0, "what the game still brings, by reward win"),
            Column("margin_return", "float32", 0, "what the hand still brings, by reward margin"),
            Column(
                "values",
                "float32",
                ACTION_COUNT,
                f"the search's value of every action, in {unit}; -inf where there is none",
            ),
            Column(
                "errors",
                "float32",
                ACTION_COUNT,
                "standard error of its difference from the best; 0 for the best, NaN likewise",
            ),
            Column(
                "marginals",
                "float32",
                (BONEYARD + 1) * TILE_COUNT,
                f"exact chance of each of {TILE_COUNT} tiles to be in each hand, seats counted "
                "from the observer, and at last in the boneyard, by what the seat was shown",
            ),
        )

    @property
    def aim(self) -> str:
        """What the values count: `game`, the chance to win, or `hand`, points."""
        return self.searcher().aim

    def searcher(self) -> Searcher:
        """Return the search that values every action."""
        agent: Agent = make_agent(self.values)
        if not isinstance(agent, Searcher):
            raise DataError(
                f"{self.values} has no values with errors for every action; pimc and "
                "student+search do"
            )
        return agent

    def positions_in(self, shard: int) -> int:
        """Return the least number of positions in a shard, which ends with a whole game."""
        return self.positions // self.files + (shard < self.positions % self.files)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, for `plan_of`."""
        values = asdict(self) | {"shards": self.files}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def plan_of(values: dict[str, Any]) -> Plan:
    """Return the plan that `as_dict` made these values from."""
    plain: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in values.items()
    }
    return Plan(**plain)


def split_of(seed: int) -> str:
    """Return the split that a game belongs to, by the last two digits of its seed."""
    last = seed % 100
    for name, share in SPLITS.items():
        if last < share:
            return name
        last -= share
    raise AssertionError("the shares of the splits make 100 per cent")
