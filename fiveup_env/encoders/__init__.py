"""Encoders turn views into arrays in which every entry has a name, a range and a meaning.

docs/understand/encoding.md lists the entries.
"""

from __future__ import annotations

from typing import Any, cast

from fiveup_env.checks import is_one_of, whole
from fiveup_env.encoders.flat import Flat
from fiveup_env.encoders.pieces import (
    Encoder,
    NoRows,
    Piece,
    bounds,
    factors_of,
    offsets,
    piece_of,
    place_of,
    row_size,
    rows_of,
    table_of,
)
from fiveup_env.encoders.tokens import Tokens
from fiveup_env.errors import EncoderError, shown, unknown
from fiveup_env.places import absent, held_at, is_place

__all__ = [
    "ENCODERS",
    "Encoder",
    "NoRows",
    "Piece",
    "bounds",
    "factors_of",
    "get_encoder",
    "offsets",
    "piece_of",
    "place_of",
    "register_encoder",
    "registered_encoder",
    "row_size",
    "rows_of",
    "table_of",
]

LARGEST_VERSION = 1_000_000
ENCODERS: dict[str, Encoder] = {}


def register_encoder(encoder: Encoder) -> None:
    """Make an encoder available by its name, in every option that is called `encoder`.

    Registering an encoder of the same class again, as a notebook does when a cell is run again,
    replaces it.

    Args:
        encoder: An object with what `Encoder` has: `name`, `version`, `pieces` and `encode`.

    Raises:
        EncoderError: If it is not an encoder, or another one has its name.
    """
    _check(encoder)
    ENCODERS[encoder.name] = encoder


def get_encoder(chosen: str | Encoder) -> Encoder:
    """Return the encoder that is named, or the encoder that is given.

    Args:
        chosen: The name of an encoder that is registered, an encoder, or the place of one or of its
            class, `"module:Class"`, which is imported.

    Raises:
        EncoderError: If there is no such encoder, or it has the name of another one.

    >>> get_encoder("flat").name
    'flat'
    """
    encoder: Any = chosen
    if isinstance(chosen, str) and is_place(chosen):
        held = held_at(chosen)
        if held is None:
            raise EncoderError(absent(chosen))
        encoder = held() if isinstance(held, type) else held
    elif not isinstance(chosen, Encoder):
        return registered_encoder(chosen)
    _check(encoder)
    return cast("Encoder", encoder)


def registered_encoder(name: object) -> Encoder:
    """Return the encoder that is registered under a name, and import nothing.

    Names that stand in files, such as those of models, are looked up like this.

    Raises:
        EncoderError: If there is none.
    """
    if is_one_of(name, ("oracle",)):
        raise EncoderError(
            "hidden tiles are never an observation: use Batch(oracle=True).oracle or env.state()"
        )
    if not (isinstance(name, str) and name in ENCODERS):
        raise EncoderError(
            f"{unknown('encoder', name, ENCODERS)}; one of your own is given by register_encoder, "
            "or named module:Class"
        )
    return ENCODERS[name]


def _check(encoder: Encoder) -> None:
    """Raise EncoderError for what is not an encoder, or has the name of another one.

    Models and policies name the encoder of their rows, and are played with the one of that name.
    """
    name, version = getattr(encoder, "name", None), getattr(encoder, "version", None)
    named = isinstance(name, str) and whole(version, 0, LARGEST_VERSION) is not None
    if not named or not isinstance(encoder, Encoder):
        raise EncoderError(
            f"{shown(encoder)} is not an encoder: it needs name, version, pieces and encode"
        )
    former = ENCODERS.get(encoder.name, encoder)
    if _class_of(former) != _class_of(encoder):
        raise EncoderError(
            f"there is an encoder {encoder.name!r} already, of the class {_class_of(former)}; "
            f"give this one another name"
        )


def _class_of(encoder: Encoder) -> str:
    """Return the module and the name of an encoder's class, which outlive a new definition."""
    return f"{type(encoder).__module__}.{type(encoder).__qualname__}"


register_encoder(Flat())
register_encoder(Tokens())
