"""Checks of decision data: digests, games derived again from their seeds, and shards made again.

A game is derived by the PettingZoo environment, which shares no loop with what made the data: it is
dealt from its seed, and the actions of its rows are played. Every row must then be what the seat to
move observes there, and what search and belief say about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from agents.data.card import CARD, read_complete
from agents.data.games import marginals_of, rows_of_shard, texts_of, values_of
from agents.data.plan import DataError, split_of
from agents.data.replays import Replay
from agents.data.shards import digest_of, read_rows
from fiveup_env.checks import whole
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import shown
from fiveup_env.progress import progress

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from agents.data.card import Card
    from agents.data.games import Columns
    from agents.data.plan import Plan


MOST_CHECKED: Final = 1_000_000


def check_data(
    folder: str | os.PathLike[str], games: int = 20, shards: int = 1, seed: int = 0
) -> Card:
    """Check a folder, and return its card; raise DataError that says what does not match.

    The digests of all shards must be those of the card. Some games, drawn at random, are derived
    from their seeds, and some shards are made again.
    """
    for name, count in {"games": games, "shards": shards}.items():
        if whole(count, 0, MOST_CHECKED) is None:
            raise DataError(f"--{name} must be from 0 to {MOST_CHECKED:,}, not {shown(count)}")
    checked_seed(seed)
    card = read_complete(folder)
    for path, about in zip(card.shards, card.about["shards"], strict=True):
        if path.exists() and digest_of(path) != about["digest"]:
            raise DataError(
                f"{path} is not what was made: its digest is not that of the card; remove it, and "
                f"the command in {card.folder / CARD} makes it again"
            )
    rng, names = np.random.default_rng(seed), [column.name for column in card.plan.columns]
    chosen = np.sort(rng.integers(len(card.shards), size=games))
    for number in progress(chosen.tolist(), games, "games"):
        path, rows = card.shards[number], read_rows(card, number, names)
        which = rows["seed"] == rng.choice(np.unique(rows["seed"]))
        game = {name: column[which] for name, column in rows.items()}
        try:
            wanted = derived(card.plan, game)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        _compare(path, game, wanted)
    again = rng.permutation(len(card.shards))[:shards]
    for number in progress(again.tolist(), len(again), "shards"):
        _compare(
            card.shards[number], read_rows(card, number, names), rows_of_shard(card.plan, number)
        )
    return card


def derived(plan: Plan, rows: Columns) -> Columns:
    """Return the rows of a game as its seed and the actions of its rows make them.

    Who played is taken from the rows, as are the actions.
    """
    replay = Replay(plan, rows, "margin")
    turns = list(replay.turns())
    views = np.concatenate([turn.view for turn in turns])
    masks = np.array([turn.mask for turn in turns])
    rewards = np.array([turn.rewards for turn in turns])
    hands, seats = views["public"]["hand_number"], views["seat"]
    margins = [(rewards[k:][hands[k:] == hands[k], seats[k]]).sum() for k in range(len(turns))]
    wins = np.sum([turn.rewards for turn in Replay(plan, rows, "win").turns()], 0)
    choice = masks.sum(1) > 1
    values, errors = values_of(plan, plan.searcher(), replay.seed, views[choice])
    return {
        "hand": hands[choice],
        "decision": np.flatnonzero(choice),
        "seat": seats[choice],
        "split": np.full(choice.sum(), split_of(replay.seed)),
        "observation": np.array([turn.observation for turn in turns])[choice],
        "mask": masks[choice],
        "action": np.array([turn.action for turn in turns])[choice],
        "win_return": wins[seats[choice]],
        "margin_return": np.array(margins)[choice],
        "values": values,
        "errors": errors,
        "marginals": marginals_of(views[choice]),
        **texts_of(plan, views[choice]),
    }


def _compare(path: Path, stored: Columns, wanted: Columns) -> None:
    """Refuse rows that differ; floats may differ by what another machine rounds."""
    for name, column in wanted.items():
        kept = stored[name]
        if len(kept) != len(column):
            raise DataError(f"{path} has {len(kept)} rows, not {len(column)}")
        if column.dtype.kind == "f":
            same = np.isclose(kept, column, rtol=1e-5, atol=1e-6, equal_nan=True)
        else:
            same = kept == column
        if len(wrong := np.flatnonzero(~same.reshape(len(same), -1).all(1))):
            k = wrong[0]
            raise DataError(
                f"{path}: `{name}` of game {stored['seed'][k]}, decision {stored['decision'][k]} "
                "is not what the game gives"
            )
