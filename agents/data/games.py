"""The rows of a shard: whole games are played, then their positions are searched.

Games are played side by side in groups, each group to its end, and kept in order until they hold
enough positions. So all moments of a game are there as often as they occur. Rows are the decisions
that left a choice; moves without one are implied.
"""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.data.plan import DataError
from agents.games import turns_of
from fiveup_env.belief import BONEYARD, marginals
from fiveup_env.doors.text.prompts import deductions, prompt
from fiveup_env.encoders import NoRows, get_encoder, row_size
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.batch import Batch
from fiveup_env.envs.episodes import Episodes, write_returns
from fiveup_env.envs.streams import derived_seed
from fiveup_env.errors import IllegalMoveError
from fiveup_env.game.view_words import move_words
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import MAX_PLAYERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.data.plan import Plan, Shard
    from fiveup_env.opponents.agent import Agent
    from fiveup_env.opponents.search.world_search import Searcher

Columns = dict[str, np.ndarray]
GAMES: Final = 32  # played side by side
MOST_HANDS: Final = 100  # of a game; between weak players some would take many more
WIN_CODES: Final = Episodes(reward="win").codes


def rows_of_shard(plan: Plan, shard: Shard) -> Columns:
    """Return the rows of a shard, game by game and in the order of the decisions."""
    agents, searcher = [make_agent(spec) for spec in plan.agents], plan.searcher()
    groups = (decisions_of_group(plan, agents, (*shard.key, group)) for group in count())
    games, positions = [], 0
    for rows in chain.from_iterable(groups):
        games.append(_with_knowledge(plan, searcher, rows))
        positions += len(rows["action"])
        if positions >= shard.positions:
            break
    return {name: np.concatenate([rows[name] for rows in games]) for name in games[0]}


def _with_knowledge(plan: Plan, searcher: Searcher, rows: Columns) -> Columns:
    """Return the rows of a game with what encoder, search and belief say about its positions."""
    views, encoder = rows.pop("view"), get_encoder(plan.encoder)
    observations = np.empty((len(views), row_size(encoder)), np.int8)
    encoder.encode(views, observations)
    rng = keyed_rng("values of data", plan.seed, int(rows["seed"][0]))
    statistics = searcher.search(views, rng)
    return rows | {
        "observation": observations,
        "values": statistics.means.astype(np.float32),
        "errors": statistics.errors.astype(np.float32),
        "marginals": marginals_of(views),
        **(texts_of(views) if plan.text else {}),
    }


def marginals_of(views: np.ndarray) -> np.ndarray:
    """Return the exact marginals of every view, with seats counted from the observer."""
    chances = marginals(views)
    players = views["public"]["rules"]["players"].astype(np.int64)[:, None]
    places = np.arange(BONEYARD + 1) + np.zeros_like(players)
    seated = places < players
    places[seated] = ((places + views["seat"][:, None]) % players)[seated]
    turned = np.take_along_axis(chances, places[:, :, None], 1)
    return turned.reshape(len(views), -1).astype(np.float32)


def texts_of(views: np.ndarray) -> Columns:
    """Return the columns of text of every view."""
    each = [views[k : k + 1] for k in range(len(views))]
    legal = [mask.nonzero()[0].tolist() for mask in legal_masks(views)]
    moves = ["\n".join(move_words(MOVES[action]) for action in row) for row in legal]
    return {
        "prompt": np.array([prompt(view) for view in each], object),
        "moves": np.array(moves, object),
        "deductions": np.array([deductions(view) for view in each], object),
    }


def decisions_of_group(plan: Plan, agents: list[Agent], key: tuple[int, ...]) -> Iterator[Columns]:
    """Play a group of games to their ends; yield the decisions of each game that left a choice."""
    batch = Batch(
        GAMES,
        plan.all_rules,
        encoder=NoRows(),
        reward="margin",
        max_hands=MOST_HANDS,
        seed=derived_seed(plan.seed, *key),
    )
    batch.reset()
    seeds = batch.states["seed"].copy()
    rng = keyed_rng("games of data", plan.seed, *key)
    seated = keyed_rng("sides of data", plan.seed, *key).integers(
        len(agents), size=(GAMES, MAX_PLAYERS)
    )
    moves, seats = np.zeros(GAMES, np.int32), batch.reward.shape[1]
    earned, after_hand = np.zeros((GAMES, seats)), np.zeros((GAMES, MOST_HANDS, seats))
    log = []
    try:
        for going, views, masks, movers, actions in turns_of(
            batch, agents, plan.agents, seated, rng
        ):
            choice, hands = masks.sum(1) > 1, views["public"]["hand_number"]
            columns = (going, moves[going], views, masks, actions, movers, earned[going])
            log.append([column[choice] for column in columns])
            moves[going] += 1
            earned[going] += batch.reward[going]
            after_hand[going, hands] = earned[going]
    except IllegalMoveError as error:
        raise DataError(f"one of {', '.join(plan.agents)} made a wrong move: {error}") from None
    games, *logged = (np.concatenate(column) for column in zip(*log, strict=True))
    wins = np.zeros((GAMES, seats))
    for game in np.unique(games):
        write_returns(batch.states, game, WIN_CODES, wins)
        decisions, views, masks, actions, movers, before = (part[games == game] for part in logged)
        rules = plan.all_rules[game % len(plan.all_rules)]
        hands, seat = views["public"]["hand_number"], views["seat"]
        margins = after_hand[game, hands, seat] - before[np.arange(len(views)), seat]
        yield {
            "view": views,
            "seed": np.full(len(views), seeds[game]),
            "preset": np.full(len(views), rules.name),
            "players": np.full(len(views), rules.players, np.int8),
            "hand": hands.copy(),
            "decision": decisions,
            "seat": seat.copy(),
            "agent": np.array(plan.agents)[movers],
            "mask": masks,
            "action": actions.astype(np.int16),
            "win_return": wins[game, seat].astype(np.float32),
            "margin_return": margins.astype(np.float32),
        }
