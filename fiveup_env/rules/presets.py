"""The named rules: the presets of the family, and mini games that are small enough to be solved.

RULES.md (section 6) says where each preset comes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN: dict[str, Any] = {
    "spinners": "all",
    "hand_size": 5,
    "draw": "until_playable",
    "reserve": 0,
    "hand_end": "subtract_own",
    "block_pays": "others",
    "leader": "winner",
    "lead_tile": "any",
    "target": 61,
    "game_end": "finish_hand",
    "exact_target": False,
    "multiple": 5,
    "max_pip": 6,
}
_FIVE_UP = _PLAIN | {"unit": 1}
_ALL_FIVES = _PLAIN | {
    "spinners": "first",
    "hand_size": {2: 9, 3: 7, 4: 5, 5: 5},
    "hand_end": "winner_takes",
    "target": {2: 250, 3: 200, 4: 200, 5: 200},
    "game_end": "immediate",
}
# The fields of each preset: a value, or a value for each number of players. Those that a preset
# does not have follow from others (`following`).
_PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "five_up": _FIVE_UP,
    "five_up_armanino": _FIVE_UP | {"hand_end": "armanino"},
    "five_up_fosdick": _FIVE_UP | {"hand_end": "winner_takes", "game_end": "immediate"},
    "five_up_first_to_61": _FIVE_UP | {"game_end": "immediate"},
    "all_fives": _ALL_FIVES,
    "all_fives_cribbage": _ALL_FIVES | {"unit": 1, "target": 61},
    "muggins": _ALL_FIVES | {"spinners": "none"},
}
# Games small enough to be solved (docs/understand/convergence.md). A name never changes its
# meaning: another mini game needs a name of its own.
_MINI = _FIVE_UP | {"max_pip": 2, "hand_size": 2, "multiple": 3, "target": 5}
_MINIS: Final[Mapping[str, Mapping[str, Any]]] = {
    "mini-2": _MINI,
    "mini-2-draw": _MINI | {"draw": "optional"},
    "mini-3": _MINI | {"max_pip": 3, "hand_size": {2: 3, 3: 3, 4: 2, 5: 2}},
    "mini-3-draw": _MINI | {"max_pip": 3, "hand_size": 4, "draw": "optional", "reserve": 1},
}
NAMED_RULES: Final[Mapping[str, Mapping[str, Any]]] = {**_PRESETS, **_MINIS}
FAMILY: Final = tuple(_PRESETS)
PRESETS: Final = tuple(NAMED_RULES)  # the family and the mini games
MINIS: Final = tuple(_MINIS)
# What is rounded by itself, by the `hand_end`.
ROUND_PER: Final = {"subtract_own": "hand", "winner_takes": "all", "armanino": "all"}


def fixed(name: str) -> dict[str, Any]:
    """Return the fields that a preset has with one value for all numbers of players."""
    return {k: value for k, value in NAMED_RULES[name].items() if not isinstance(value, dict)}


def following(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that follow from others, with the values that they have by default.

    Args:
        name: The preset, whose size of hands and target may follow from the number of players.
        fields: What they follow from: at least `players`, `hand_end` and `multiple`.
    """
    players = fields["players"]
    by_players = {k: of[players] for k, of in NAMED_RULES[name].items() if isinstance(of, dict)}
    return by_players | {
        "teams": players == 4,
        "round_per": ROUND_PER[fields["hand_end"]],
        "unit": fields["multiple"],
    }
