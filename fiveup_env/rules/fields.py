"""`Rules`: the fields in which the games of the family differ, and the values that are allowed.

RULES.md says what each field means. The presets are in `presets`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import numpy as np

from fiveup_env.checks import is_one_of, whole
from fiveup_env.errors import RulesError, SeatError, shown, unknown
from fiveup_env.rules.presets import NAMED_RULES, fixed, following
from fiveup_env.rules.tiles import MAX_PIP, set_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack


MIN_PLAYERS, MAX_PLAYERS = 2, 5
MAX_MULTIPLE = 2 * MAX_PIP
MAX_TARGET = 1_000_000

# The values of the fields that are words; compiled code holds the position of the value.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "spinners": ("all", "first", "none"),
    "draw": ("until_playable", "optional"),
    "hand_end": ("subtract_own", "winner_takes", "armanino"),
    "round_per": ("hand", "side", "all"),
    "block_pays": ("others", "difference"),
    "leader": ("winner", "rotate"),
    "lead_tile": ("any", "highest_double"),
    "game_end": ("finish_hand", "immediate"),
}
SPIN_ALL, SPIN_FIRST, SPIN_NONE = range(3)
DRAW_UNTIL_PLAYABLE, DRAW_OPTIONAL = range(2)
SUBTRACT_OWN, WINNER_TAKES, ARMANINO = range(3)
ROUND_HAND, ROUND_SIDE, ROUND_ALL = range(3)
PAY_OTHERS, PAY_DIFFERENCE = range(2)
LEAD_WINNER, LEAD_ROTATE = range(2)
LEAD_ANY, LEAD_HIGHEST_DOUBLE = range(2)
FINISH_HAND, IMMEDIATE = range(2)
FLAGS: Final = ("teams", "exact_target")


class RuleFields(TypedDict, total=False):
    """The fields of `Rules` that may be overridden wherever rules are named, as keywords."""

    teams: bool
    spinners: Literal["all", "first", "none"]
    hand_size: int
    draw: Literal["until_playable", "optional"]
    reserve: int
    hand_end: Literal["subtract_own", "winner_takes", "armanino"]
    round_per: Literal["hand", "side", "all"]
    block_pays: Literal["others", "difference"]
    leader: Literal["winner", "rotate"]
    lead_tile: Literal["any", "highest_double"]
    unit: int
    target: int
    game_end: Literal["finish_hand", "immediate"]
    exact_target: bool
    multiple: int
    max_pip: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Rules:
    """The complete rules of one game: the number of players, the partners, and every field.

    Make them with `Rules.preset("all_fives", players=2, reserve=2)`; change them with `replace`.
    """

    players: int
    teams: bool
    spinners: str
    hand_size: int
    draw: str
    reserve: int
    hand_end: str
    round_per: str
    block_pays: str
    leader: str
    lead_tile: str
    unit: int
    target: int
    game_end: str
    exact_target: bool
    multiple: int
    max_pip: int

    @classmethod
    def preset(cls, name: str = "five_up", players: int = 4, **fields: Unpack[RuleFields]) -> Rules:
        """Return a preset for this many players, with some fields overridden.

        Args:
            name: One of PRESETS.
            players: 2 to 5; four play as partners unless `teams` says otherwise.
            **fields: Fields of the rules, in place of the preset's.

        Raises:
            RulesError: If there is no such preset or field, or the rules cannot be played.
            SeatError: If the number of players is not from 2 to 5.

        >>> Rules.preset("all_fives", players=2).hand_size
        9
        """
        if not is_one_of(name, NAMED_RULES):
            raise RulesError(unknown("preset", name, NAMED_RULES))
        given = {"players": _checked_players(players), **fixed(name), **_checked_fields(fields)}
        return cls(**following(name, given) | given)

    def replace(self, *, players: int | None = None, **fields: Unpack[RuleFields]) -> Rules:
        """Return these rules with some fields changed.

        A field that has the value that follows from others follows them on: the `unit` a multiple,
        `round_per` a `hand_end`, partners, hands and target the number of players. So this makes
        what `preset` makes of the same field.

        >>> Rules.preset(players=2).replace(target=30).target
        30
        >>> Rules.preset("all_fives", players=2).replace(players=3)
        Rules.preset('all_fives', players=3)
        """
        name, own = self.nearest()[0], self._all()
        follows = following(name, own)
        given = {k: value for k, value in own.items() if value != follows.get(k)}
        given |= _checked_fields(fields)
        given["players"] = self.players if players is None else _checked_players(players)
        return type(self)(**following(name, given) | given)

    @classmethod
    def of(
        cls, rules: str | Rules, players: int | None = None, **fields: Unpack[RuleFields]
    ) -> Rules:
        """Return a preset, by its name, or the given rules, with some fields overridden."""
        if isinstance(rules, Rules):
            changed = fields or players is not None
            return rules.replace(players=players, **fields) if changed else rules
        return cls.preset(rules, 4 if players is None else players, **fields)

    @classmethod
    def from_struct(cls, struct: np.void) -> Rules:
        """Return the rules that a RULES struct holds; raise an InputError if it holds none."""
        numbers = (name for name in RULES.names or () if name != "sides")
        fields: dict[str, Any] = {name: int(struct[name]) for name in numbers}
        words = {name: dict(enumerate(CHOICES[name])).get(fields[name]) for name in CHOICES}
        flags = {
            "teams": bool(struct["sides"] < struct["players"]),
            "exact_target": bool(struct["exact_target"]),
        }
        return cls(**fields | words | flags)

    def __post_init__(self) -> None:
        """Refuse rules that cannot be dealt or scored."""
        for name, value in self._all().items():
            object.__setattr__(self, name, _checked_value(name, value))
        if self.teams and self.players != 4:
            raise RulesError(f"partners need four players, not {self.players}; use teams=False")
        in_hands, tiles = self.players * self.hand_size, set_size(self.max_pip)
        if in_hands > tiles:
            raise RulesError(
                f"{self.players} hands of {self.hand_size} need {in_hands} tiles, but the "
                f"double-{self.max_pip} set has {tiles}: at most hand_size="
                f"{tiles // self.players} can be dealt"
            )
        if self.unit not in {1, self.multiple}:
            raise RulesError(
                f"unit must be 1 (a point for each {self.multiple}) or the multiple itself "
                f"({self.multiple}), not {self.unit}"
            )
        if self.block_pays == "difference" and self.hand_end == "subtract_own":
            raise RulesError(
                "block_pays='difference' needs a hand_end by which a block pays somebody: "
                "winner_takes or armanino, not subtract_own"
            )
        if self.exact_target and self.target % self.unit:
            raise RulesError(
                f"a target of exactly {self.target} can never be hit with points that come "
                f"in {self.unit}s; choose a multiple of {self.unit}"
            )

    def __repr__(self) -> str:
        """Return an expression that makes these rules: a preset, and what is changed in it.

        >>> Rules.preset("muggins", players=3, reserve=2)
        Rules.preset('muggins', players=3, reserve=2)
        """
        name, changes = self.nearest()
        given = {"players": self.players, **changes}
        return f"Rules.preset({name!r}, {', '.join(f'{k}={v!r}' for k, v in given.items())})"

    def nearest(self) -> tuple[str, dict[str, Any]]:
        """Return the preset from which these rules differ least, and the fields that differ."""
        name = min(NAMED_RULES, key=lambda name: len(self._changes_of(name)))
        changes = self._changes_of(name)
        if self.teams != (self.players == 4):
            changes["teams"] = self.teams
        return name, changes

    def _changes_of(self, name: str) -> dict[str, Any]:
        """Return the fields that must be given to `preset` to make these rules, but teams."""
        fields = following(name, self._all()) | fixed(name)
        return {field: value for field, value in self.fields().items() if value != fields[field]}

    @property
    def name(self) -> str | None:
        """The name of the preset that these rules equal, or None if they equal none."""
        names = (name for name in NAMED_RULES if not self._changes_of(name))
        return next(names, None)

    def fields(self) -> dict[str, Any]:
        """Return all fields but `players` and `teams`, in order."""
        return {name: getattr(self, name) for name in FIELDS}

    def _all(self) -> dict[str, Any]:
        """Return the number of players, `teams`, and all other fields, in order."""
        return {"players": self.players, "teams": self.teams, **self.fields()}

    @property
    def sides(self) -> int:
        """The number of sides: two partnerships, or every player alone."""
        return 2 if self.teams else self.players

    def side_of(self, seat: int) -> int:
        """Return the side of a seat: seats 0 and 2 against 1 and 3, or each seat its own."""
        return seat % self.sides

    def seats_of(self, side: int) -> tuple[int, ...]:
        """Return the seats of a side."""
        return tuple(range(side, self.players, self.sides))

    @property
    def tile_count(self) -> int:
        """The number of tiles in the set."""
        return set_size(self.max_pip)

    @property
    def boneyard_size(self) -> int:
        """The number of tiles left once every hand is dealt, including the reserve."""
        return self.tile_count - self.players * self.hand_size

    def to_struct(self) -> np.ndarray:
        """Return these rules for compiled code: one RULES struct, as an array of no dimensions."""
        struct = np.zeros((), RULES)
        for name in RULES.names or ():
            value = getattr(self, name)
            struct[name] = CHOICES[name].index(value) if name in CHOICES else value
        return struct


RULES = np.dtype(
    [
        ("target", np.int32),
        ("players", np.int8),
        ("sides", np.int8),
        ("hand_size", np.int8),
        ("spinners", np.int8),
        ("draw", np.int8),
        ("reserve", np.int8),
        ("hand_end", np.int8),
        ("round_per", np.int8),
        ("unit", np.int8),
        ("game_end", np.int8),
        ("exact_target", np.int8),
        ("multiple", np.int8),
        ("max_pip", np.int8),
        ("block_pays", np.int8),
        ("leader", np.int8),
        ("lead_tile", np.int8),
    ],
    align=True,
)

FIELDS: Final = tuple(
    field.name for field in dataclasses.fields(Rules) if field.name not in {"players", "teams"}
)

BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "hand_size": (1, set_size(MAX_PIP) // MIN_PLAYERS),
    "reserve": (0, 2),
    "unit": (1, MAX_MULTIPLE),
    "target": (1, MAX_TARGET),
    "multiple": (2, MAX_MULTIPLE),
    "max_pip": (1, MAX_PIP),
}

_WORDS: Final[Mapping[str, bool]] = {"true": True, "false": False}


def parse_assignment(text: str) -> tuple[str, Any]:
    """Return the field and the value of a `field=value` argument of a command line."""
    name, equals, value = text.partition("=")
    if not equals:
        raise RulesError(f"--set takes FIELD=VALUE, such as hand_size=7, not {shown(text)}")
    if name not in {*FIELDS, "teams"}:
        raise RulesError(unknown("rule field", name, (*FIELDS, "teams")))
    if value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    try:
        return name, int(value)
    except ValueError:  # a word, or more digits than Python reads; the field says what it allows
        return name, value


def _checked_fields(fields: RuleFields) -> dict[str, Any]:
    """Return some fields; raise a RulesError for a field that there is not, or for its value."""
    for field in fields:
        if field not in RuleFields.__annotations__:
            raise RulesError(unknown("rule field", field, FIELDS))
    return {name: _checked_value(name, value) for name, value in fields.items()}


def _checked_players(players: object) -> int:
    count = whole(players, MIN_PLAYERS, MAX_PLAYERS)
    if count is None:
        raise SeatError(
            f"there must be {MIN_PLAYERS} to {MAX_PLAYERS} players, not {shown(players)}"
        )
    return count


def _checked_value(name: str, value: object) -> object:
    """Return the value of a field; raise an error if the field does not allow it."""
    if name == "players":
        return _checked_players(value)
    if name in CHOICES:
        if not is_one_of(value, CHOICES[name]):
            raise RulesError(unknown(f"value of {name}", value, CHOICES[name]))
        return value
    if name in FLAGS:
        if not isinstance(value, bool):
            raise RulesError(f"{name} must be True or False, not {shown(value)}")
        return value
    low, high = BOUNDS[name]
    number = whole(value, low, high)
    if number is None:
        raise RulesError(f"{name} must be a whole number from {low} to {high}, not {shown(value)}")
    return number
