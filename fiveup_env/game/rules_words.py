"""The rules in plain words, made from their fields: every sentence is of the rules in force.

Nobody needs to know the name of a preset, nor any rule that the words do not say.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fiveup_env.rules.fields import Rules

_SPINNERS: Final[Mapping[str, str]] = {
    "all": (
        "Once both sides of a double are covered, its two ends are open instead: a tile may be set "
        "on each of them. They count nothing."
    ),
    "first": (
        "Once both sides of the first double that was set or led in the hand are covered, its two "
        "ends are open instead: a tile may be set on each of them. They count nothing. Any other "
        "double is closed once both of its sides are covered: nothing can be set on it any more."
    ),
    "none": (
        "Once both sides of a double are covered, it is closed: nothing can be set on it any more."
    ),
}


@lru_cache(maxsize=64)
def rules_text(rules: Rules) -> str:
    """Return the rules in words, in paragraphs.

    >>> from fiveup_env import Rules
    >>> rules_text(Rules.preset("five_up", players=2)).split(".")[0]
    'There is one tile of each kind from 0-0 to 6-6, 28 tiles'
    """
    parts = (_deal, _layout, _scoring, _turns, _hand_end, _game_end)
    return "\n\n".join(" ".join(part(rules)) for part in parts)


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun: `1 tile`, `2 tiles`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _deal(rules: Rules) -> Iterator[str]:
    top, players = rules.max_pip, rules.players
    yield f"There is one tile of each kind from 0-0 to {top}-{top}, {rules.tile_count} tiles."
    yield f"There are {players} players, in seats 0 to {players - 1}."
    if rules.teams:
        yield (
            "Seats 0 and 2 are partners, and so are seats 1 and 3. Partners are one side with one "
            "score: side 0 and side 1."
        )
    else:
        yield "Every player is a side with a score of their own."
    yield f"In each hand every player is dealt {number_of(rules.hand_size, 'tile')}."
    if rules.boneyard_size:
        yield f"The other {rules.boneyard_size}, face down, are the boneyard."
    else:
        yield "There is no boneyard: all tiles are dealt."


def _layout(rules: Rules) -> Iterator[str]:
    yield "A hand begins with a tile that is led."
    yield (
        "Every later tile is set on an open end that shows one of its two numbers. That end is "
        "then covered, and the tile's other number is an open end; such an end is plain and counts "
        "its number."
    )
    yield "A tile that is led, and is no double, has two plain ends, one for each of its numbers."
    yield (
        "A double that is led is open on both sides; a double that is set on an end has one side "
        "covered by that, and the other side is open. Any tile with the double's number may be set "
        "on an open side."
    )
    yield (
        "A double with an open side counts twice its number, once, whether one side is open or two."
    )
    yield _SPINNERS[rules.spinners]
    yield (
        "Plain ends that show the same number are one and the same choice; a plain end and a "
        "double of the same number are two."
    )


def _scoring(rules: Rules) -> Iterator[str]:
    multiple = rules.multiple
    yield "After each tile that is led or set, what all open ends count is added up: the total."
    earns = "1 point" if rules.unit == 1 else f"{multiple} points"
    yield (
        f"If the total is a multiple of {multiple}, the side that set the tile scores {earns} for "
        f"each {multiple} in it."
    )
    if rules.exact_target:
        yield (
            f"Points that would take a side beyond {rules.target} are not scored, neither for a "
            "tile nor at the end of a hand."
        )


def _turns(rules: Rules) -> Iterator[str]:
    yield "Turns go round in the order of the seats."
    if rules.draw == "optional":
        yield (
            "Whoever is to move may set a tile, or draw one from the boneyard while tiles may be "
            "drawn, also with a tile that fits; after a draw the same player is to move. Whoever "
            "can neither set nor draw passes."
        )
    else:
        yield (
            "Whoever has a tile that fits must set one, and may not draw. Whoever has none draws "
            "from the boneyard until a drawn tile fits, which must then be set, or until no more "
            "may be drawn, and then passes. Draws and passes are made by themselves."
        )
    if rules.reserve and rules.boneyard_size:
        last = "tile" if rules.reserve == 1 else f"{rules.reserve} tiles"
        yield f"The last {last} of the boneyard may never be drawn."
    elif rules.boneyard_size:
        yield "All tiles of the boneyard may be drawn."
    yield from _leaders(rules)


def _leaders(rules: Rules) -> Iterator[str]:
    if rules.lead_tile == "any":
        lot = "a seat is drawn by lot, and it leads any tile of its hand"
    else:
        lot = (
            "whoever was dealt the highest double leads, and must lead that double; if no double "
            "was dealt, the tile with the most pips takes its place, and of several such tiles the "
            "one with the highest number"
        )
    yield f"In the first hand {lot}."
    if rules.leader == "rotate":
        yield "In every later hand the seat after the last leader leads any tile of its hand."
    else:
        yield (
            "After a hand in which a player went out, that player leads any tile of their hand. "
            "After a hand that was blocked it is as in the first hand."
        )


def _hand_end(rules: Rules) -> Iterator[str]:
    multiple, points = rules.multiple, _points(rules)
    yield (
        "A hand ends when a player sets their last tile and so goes out, or when all players have "
        "passed one after the other, so that it is blocked."
    )
    half = " (a half is rounded down)" if multiple % 2 == 0 else ""
    yield (
        f"The pips of the tiles left in the hands then count: rounded to the nearest multiple of "
        f"{multiple}{half}, they are worth {points}."
    )
    if rules.hand_end == "subtract_own":
        each = "hand" if rules.round_per == "hand" else "side's pips together"
        yield (
            "However the hand ends, every side loses what is left in its own hands, where each "
            f"{each} {'is' if each == 'hand' else 'are'} rounded."
        )
    else:
        yield from _payments(rules)
    yield "Scores may fall below 0."


def _payments(rules: Rules) -> Iterator[str]:
    multiple = rules.multiple
    rounding = {
        "hand": "each hand of theirs is rounded by itself",
        "side": "what each side holds is rounded by itself",
        "all": "all of that together is rounded",
    }[str(rules.round_per)]
    armanino = rules.hand_end == "armanino" and rules.sides == 3
    yield (
        "After a player went out, that player's side gains what all other sides hold, where "
        f"{rounding}."
    )
    if armanino:
        yield (
            "Of the two other sides, the one that holds less gains the difference between them, "
            "rounded."
        )
    if armanino or rules.block_pays == "difference":
        gains = "what all others hold together less what it holds itself, and that is rounded"
    else:
        gains = f"what all other sides hold, where {rounding}"
    yield f"After a block, the side that holds fewer pips than any other gains {gains}."
    if rules.sides == 3 and not armanino:
        yield (
            "If two of the three sides tie for the fewest, each of the two gains half of what the "
            f"third holds, rounded to the nearest multiple of {multiple} (a half is rounded down). "
            "If all three tie, nobody gains."
        )
    else:
        yield "If sides tie for the fewest, nobody gains."


def _points(rules: Rules) -> str:
    each = "1 point" if rules.unit == 1 else f"{rules.multiple} points"
    return f"{each} for each {rules.multiple}"


def _game_end(rules: Rules) -> Iterator[str]:
    target = rules.target
    if rules.game_end == "immediate":
        yield (
            f"The game ends as soon as a side scores points for a tile and then has {target} or "
            "more: it wins, and nothing left in the hands counts."
        )
        yield (
            f"At the end of a hand, too, a side wins if it has {target} or more and has more than "
            "any other."
        )
    else:
        yield (
            f"A hand is always played to its end. Then a side wins if it has {target} or more and "
            "has more than any other."
        )
    yield "Otherwise another hand is dealt."
