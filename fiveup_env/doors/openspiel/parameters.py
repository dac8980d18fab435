"""What OpenSpiel must know about a game: its parameters, its type and its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyspiel

from fiveup_env.envs.episodes import EPISODES, ONE_HAND, Episodes
from fiveup_env.errors import OptionError
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import DRAW_OPTIONAL, FIELDS, MAX_PLAYERS, MIN_PLAYERS, Rules
from fiveup_env.rules.tiles import TILE_PIPS

if TYPE_CHECKING:
    from collections.abc import Mapping

SHORT_NAME: Final = "fiveup"

# The values that leave a field to the preset, by the type of its values.
PRESET_DECIDES: Final[Mapping[type, Any]] = {int: -1, str: "preset", bool: False}
UNSET: Final = {
    name: PRESET_DECIDES[type(value)] for name, value in Rules.preset().fields().items()
}
# The options of episodes that are parameters; OpenSpiel itself refuses illegal actions.
EPISODE_OPTIONS: Final = ("episode", "reward", "max_hands")
DEFAULTS: Final[Mapping[str, Any]] = {
    "rules": "five_up",
    "players": 2,
    "teams": True,  # whether four players are partners; ignored for any other number
    **UNSET,
    "episode": "hand",
    "reward": "margin",
    "max_hands": 100,  # a game is cut off after this many hands
}

TYPE: Final = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Five Up and its family of domino games",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=MIN_PLAYERS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification=dict(DEFAULTS),
)


def rules_in(parameters: Mapping[str, Any]) -> Rules:
    """Return the rules that some parameters describe."""
    fields = {name: parameters[name] for name in FIELDS if parameters[name] != UNSET[name]}
    players = parameters["players"]
    teams = players == 4 and parameters["teams"]
    return Rules.preset(parameters["rules"], players, teams=teams, **fields)


def episodes_in(parameters: Mapping[str, Any]) -> Episodes:
    """Return the episodes that some parameters describe: of bounded length, and zero-sum."""
    episodes = Episodes(*(parameters[name] for name in EPISODE_OPTIONS))
    if episodes.reward == "points":
        raise OptionError(
            "reward must be margin or win, not points: the OpenSpiel game is zero-sum"
        )
    if episodes.episode == "game" and not episodes.max_hands:
        raise OptionError(
            "max_hands must be 1 or more, because OpenSpiel needs games of bounded length"
        )
    return episodes


def parameters_of(rules: Rules, episodes: Episodes) -> dict[str, Any]:
    """Return the parameters that describe rules and episodes, with every value explicit."""
    return {
        "rules": rules.name or "five_up",
        "players": rules.players,
        "teams": rules.teams,
        **rules.fields(),
        **{name: getattr(episodes, name) for name in EPISODE_OPTIONS},
    }


def info_of(rules: Rules, episodes: Episodes) -> pyspiel.GameInfo:
    """Return the bounds of a game."""
    hands = hands_at_most(episodes)
    bound = 1.0 if episodes.reward == "win" else float(hands * _points_of_a_hand(rules))
    return pyspiel.GameInfo(
        num_distinct_actions=ACTION_COUNT,
        max_chance_outcomes=max(rules.tile_count, rules.players),
        num_players=rules.players,
        min_utility=-bound,
        max_utility=bound,
        utility_sum=0.0,
        max_game_length=hands * _decisions_of_a_hand(rules),
    )


def hands_at_most(episodes: Episodes) -> int:
    """Return the largest number of hands that an episode can have."""
    return 1 if episodes.episode == EPISODES[ONE_HAND] else episodes.max_hands


def chances_at_most(rules: Rules, episodes: Episodes) -> int:
    """Return the largest number of chance nodes: one for every tile, and the lot."""
    return hands_at_most(episodes) * (rules.tile_count + 1)


def _points_of_a_hand(rules: Rules) -> int:
    """Return an upper bound on the points by which a hand can put a side ahead.

    Neither a total nor the tiles left over exceed the pips of the set, every double counted twice.
    """
    most = 2 * int(TILE_PIPS[: rules.tile_count].sum())
    return (rules.tile_count + 1) * (most // rules.multiple + rules.players) * rules.unit


def _decisions_of_a_hand(rules: Rules) -> int:
    """Return an upper bound on the decisions in a hand."""
    if rules.to_struct()["draw"] != DRAW_OPTIONAL:
        return rules.tile_count
    return rules.tile_count + rules.boneyard_size + (rules.tile_count + 1) * rules.players
