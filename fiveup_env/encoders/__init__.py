"""Encoders turn views into arrays in which every entry has a name, a range and a meaning.

docs/encoding.md lists the entries.
"""

from __future__ import annotations

from fiveup_env.checks import is_one_of
from fiveup_env.encoders.flat import Flat
from fiveup_env.encoders.pieces import Encoder, Piece, bounds, offsets, piece_of, row_size, table_of
from fiveup_env.encoders.tokens import Tokens
from fiveup_env.errors import EncoderError, shown, unknown

__all__ = [
    "ENCODERS",
    "Encoder",
    "Piece",
    "bounds",
    "get_encoder",
    "offsets",
    "piece_of",
    "register_encoder",
    "row_size",
    "table_of",
]

ENCODERS: dict[str, Encoder] = {}


def register_encoder(encoder: Encoder) -> None:
    """Make an encoder available by its name."""
    name: object = getattr(encoder, "name", None)
    if not isinstance(name, str) or not isinstance(encoder, Encoder):
        raise EncoderError(
            f"{shown(encoder)} is not an encoder: it needs name, version, pieces and encode"
        )
    if encoder.name in ENCODERS:
        raise EncoderError(f"there is an encoder {encoder.name!r} already")
    ENCODERS[encoder.name] = encoder


def get_encoder(chosen: str | Encoder) -> Encoder:
    """Return the encoder with a name, or the encoder that is given."""
    if isinstance(chosen, Encoder):
        return chosen
    if is_one_of(chosen, ("oracle",)):
        raise EncoderError(
            "hidden tiles are never an observation: use Batch(oracle=True).oracle or env.state()"
        )
    if not is_one_of(chosen, ENCODERS):
        raise EncoderError(unknown("encoder", chosen, ENCODERS))
    return ENCODERS[chosen]


register_encoder(Flat())
register_encoder(Tokens())
