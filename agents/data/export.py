"""One learner's view of the games, as Minari holds it: episodes of `fiveup/FiveUp-v0`.

An episode is what one seat saw and did in a game, as that environment would have given it to a
learner in the seat: forced moves are steps, too, and a step's reward is for all that happened until
the seat's next turn. `infos["action_mask"]` has the legal actions of every observation.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from agents.data.card import read_complete
from agents.data.plan import SPLITS, DataError
from agents.data.replays import Replay
from agents.data.shards import read_rows
from fiveup_env.checks import whole
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import MissingExtraError, shown, unknown
from fiveup_env.progress import progress

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from agents.data.card import Card
    from agents.data.games import Columns
    from agents.data.plan import Plan
    from fiveup_env.envs.episodes import RewardName


def export_to_minari(
    folder: str | os.PathLike[str],
    name: str,
    *,
    seat: int = 0,
    split: str = "train",
    reward: RewardName = "win",
) -> Any:
    """Write the episodes of a seat as the Minari data set `name`, and return it.

    `name` is as Minari wants it, such as `fiveup/partner-v0`. Where all games are by the same rules
    and between copies of one agent, the environment can be recovered from the data set.
    """
    try:
        import minari
        from minari.data_collector.episode_buffer import EpisodeBuffer
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"the export needs {error.name}: pip install -c constraints.txt -e '.[data]'"
        ) from None
    card = read_complete(folder)
    plan = card.plan
    most = min(rules.players for rules in plan.all_rules)
    if whole(seat, 0, most - 1) is None:
        raise DataError(f"seat must be from 0 to {most - 1}, not {shown(seat)}")
    episodes = (episode_of(plan, rows, seat, reward) for rows in games_of(card, split))
    # As the environment would, leave out games that ended before the seat's first turn.
    buffers = [EpisodeBuffer(**episode) for episode in episodes if len(episode["actions"])]
    if not buffers:
        raise DataError(f"{card.folder} has no games in the split {split}")
    alone = len(plan.all_rules) == len(plan.agents) == 1
    env = FiveUpEnv(plan.all_rules[0], opponents=plan.agents[0], encoder=plan.encoder)
    spec = copy.deepcopy(gymnasium.spec("fiveup/FiveUp-v0"))
    spec.kwargs |= {
        "rules": plan.rules[0],
        "players": plan.players[0],
        "opponents": plan.agents[0],
        "encoder": plan.encoder,
        "reward": reward,
        "seat": seat,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about what it would like to be told
            return minari.create_dataset_from_buffers(
                name,
                buffers,
                env=spec if alone else None,
                observation_space=env.observation_space,
                action_space=env.action_space,
                algorithm_name=", ".join(plan.agents),
                description=f"{card.about['command']} (code {card.about['code']})",
                data_format="parquet",
            )
    except ValueError as error:
        raise DataError(f"Minari refuses {shown(name)}: {error}") from None


def games_of(card: Card, split: str) -> Iterator[Columns]:
    """Yield the rows of every game of a split that its seed and its actions need."""
    names = ("seed", "preset", "players", "split", "action")
    if split not in SPLITS:
        raise DataError(unknown("split", split, SPLITS))
    for number in progress(range(card.plan.files), card.plan.files, "shards"):
        rows = read_rows(card, number, names)
        firsts = np.flatnonzero(np.diff(rows["seed"], prepend=rows["seed"][0] ^ np.uint64(1)))
        for game in np.split(np.arange(len(rows["seed"])), firsts[1:]):
            if rows["split"][game[0]] == split:
                yield {name: column[game] for name, column in rows.items()}


def episode_of(plan: Plan, rows: Columns, seat: int, reward: RewardName) -> dict[str, Any]:
    """Return what a seat saw, did and got in a game, as Minari's buffers hold it."""
    replay, earned = Replay(plan, rows, reward), 0.0
    observations, masks = [], []
    actions: list[int] = []
    rewards: list[float] = []
    for turn in replay.turns():
        if turn.view["seat"][0] == seat:
            if actions:
                rewards.append(earned)
                earned = 0.0
            observations.append(turn.observation)
            masks.append(turn.mask)
            actions.append(turn.action)
        earned += float(turn.rewards[seat])
    last = replay.env.observe(replay.env.possible_agents[seat])
    ends = [*[False] * (len(actions) - 1), True]
    return {
        "options": {"deal": replay.seed},
        "observations": np.array([*observations, last["observation"]]),
        "actions": np.array(actions),
        "rewards": [*rewards, earned],
        "terminations": [end and not replay.truncated for end in ends],
        "truncations": [end and replay.truncated for end in ends],
        "infos": {"action_mask": np.array([*masks, last["action_mask"]])},
    }
