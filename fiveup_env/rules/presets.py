"""The named rules: the presets of the family, and mini games that are small enough to be solved.

RULES.md (section 6) says where each preset comes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALL_FIVES: dict[str, Any] = {
    "spinners": "first",
    "hand_size": {2: 9, 3: 7, 4: 5, 5: 5},
    "hand_end": "winner_takes",
    "unit": "multiple",
    "target": {2: 250, 3: 200, 4: 200, 5: 200},
    "game_end": "immediate",
}
# The fields that each preset changes: to a value, to a value for each number of players, or (the
# unit only) to the value of the field that is named.
_PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "five_up": {},
    "five_up_armanino": {"hand_end": "armanino"},
    "five_up_fosdick": {"hand_end": "winner_takes", "game_end": "immediate"},
    "five_up_first_to_61": {"game_end": "immediate"},
    "all_fives": _ALL_FIVES,
    "all_fives_cribbage": _ALL_FIVES | {"unit": 1, "target": 61},
    "muggins": _ALL_FIVES | {"spinners": "none"},
}
# Games small enough to be solved (docs/understand/convergence.md). A name never changes its
# meaning: another mini game needs a name of its own.
_MINI: dict[str, Any] = {"max_pip": 2, "hand_size": 2, "multiple": 3, "target": 5}
_MINIS: Final[Mapping[str, Mapping[str, Any]]] = {
    "mini-2": _MINI,
    "mini-2-draw": _MINI | {"draw": "optional"},
    "mini-3": _MINI | {"max_pip": 3, "hand_size": {2: 3, 3: 3, 4: 2, 5: 2}},
    "mini-3-draw": _MINI | {"max_pip": 3, "hand_size": 4, "draw": "optional", "reserve": 1},
}
NAMED_RULES: Final[Mapping[str, Mapping[str, Any]]] = {**_PRESETS, **_MINIS}
PRESETS: Final = tuple(_PRESETS)
MINIS: Final = tuple(_MINIS)
