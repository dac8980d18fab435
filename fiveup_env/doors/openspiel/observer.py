"""What a player observes of a state: rows of the encoders as tensors, and strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from fiveup_env.doors.openspiel.text import history_text, table_text
from fiveup_env.encoders import get_encoder, offsets, row_size
from fiveup_env.encoders.pieces import unchecked
from fiveup_env.encoders.truth import TRUTH_PIECES, TRUTH_SIZE, write_truths
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import observe_at
from fiveup_env.envs.playthrough import NOW
from fiveup_env.errors import OptionError

NO_HAND, OWN_HAND, ALL_HANDS = (
    pyspiel.PrivateInfoType.NONE,
    pyspiel.PrivateInfoType.SINGLE_PLAYER,
    pyspiel.PrivateInfoType.ALL_PLAYERS,
)
SECRET = tuple(piece.name for piece in TRUTH_PIECES)  # for observers of all players only


class FiveUpObserver:
    """OpenSpiel's observer: `tensor`, its named pieces in `dict`, and strings.

    With perfect recall the tensor is the row of the encoder `tokens`, otherwise that of `flat`,
    number for number. Without private information it is the row of seat 0, without the pieces that
    depend on its hand.
    """

    def __init__(self, kind: pyspiel.IIGObservationType, params: dict[str, Any] | None) -> None:
        """Prepare to observe this much of a state."""
        if params:
            raise OptionError(f"observers of this game take no parameters, not {params}")
        if not kind.public_info and (kind.perfect_recall or kind.private_info == NO_HAND):
            raise OptionError(
                "an observer without public information must have private information and no "
                "perfect recall, because nearly everything to recall is public"
            )
        self._kind = kind
        encoder = get_encoder("tokens" if kind.perfect_recall else "flat")
        self._encode = unchecked(encoder)
        pieces = (*encoder.pieces, *TRUTH_PIECES)
        chosen = [(piece, start) for piece, start in offsets(pieces) if self._includes(piece.name)]
        columns = [np.arange(start, start + piece.size) for piece, start in chosen]
        size = row_size(encoder)
        everything = len(chosen) == len(encoder.pieces)
        self._columns = slice(size) if everything else np.concatenate(columns)
        self._views = np.zeros(1, VIEW)
        entries = np.zeros((1, size + TRUTH_SIZE), np.int8)
        self._entries, self._row, self._truth = entries[0], entries[:, :size], entries[:, size:]
        self.tensor = np.zeros(sum(map(len, columns)), np.float32)
        self.dict: dict[str, np.ndarray] = {}
        for piece, start in offsets([piece for piece, _ in chosen]):
            self.dict[piece.name] = self.tensor[start : start + piece.size].reshape(piece.shape)

    def _includes(self, name: str) -> bool:
        """Return whether a piece belongs to what is observed."""
        public, private = self._kind.public_info, self._kind.private_info
        if name in SECRET:
            return name == "hands" and private == ALL_HANDS
        if name == "hand":
            return bool(private != NO_HAND)
        return bool(public and (name != "plays" or private != NO_HAND))

    def set_from(self, state: pyspiel.State, player: int) -> None:
        """Write a player's observation into `tensor`, and so into `dict`, which shares its memory.

        In the middle of a move, where chance draws, it is what was observed before the move.
        """
        games, views, private = state.playthrough.games, self._views, self._kind.private_info
        observe_at(games, NOW, 0 if private == NO_HAND else player, views, 0)
        if private == NO_HAND:
            views["hand"], views["drawn"] = 0, -1
        elif private == ALL_HANDS:
            drawn = games["public"]["drawn"][NOW]
            views["drawn"][0, :drawn] = games["order"][NOW, :drawn]
            write_truths(games[: NOW + 1], np.array([player]), self._truth)
        self._encode(views, self._row)
        self.tensor[:] = self._entries[self._columns]

    def string_from(self, state: pyspiel.State, player: int) -> str:
        """Return a player's observation, as text for people that also serves as a key."""
        kind = self._kind
        seats: tuple[int, ...] = (player,)
        if kind.private_info != OWN_HAND:
            everybody = range(state.num_players())
            seats = () if kind.private_info == NO_HAND else tuple(everybody)
        if kind.perfect_recall:
            return history_text(state.playthrough, seats)
        return table_text(state.playthrough, seats, public=kind.public_info)
