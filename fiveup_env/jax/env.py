"""`FiveUp`: the environment, with the names that pgx gives to a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp

from fiveup_env.checks import whole
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.envs.episodes import Episodes
from fiveup_env.envs.options import check_fields, checked_flag
from fiveup_env.errors import EncoderError, OptionError, shown
from fiveup_env.jax import episodes, rows
from fiveup_env.jax.legality import legal
from fiveup_env.jax.values import values_of
from fiveup_env.jax.words import as_seed, stream_key
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import RuleFields, Rules

if TYPE_CHECKING:
    from jax import Array
    from typing_extensions import Unpack

    from fiveup_env.encoders import Encoder
    from fiveup_env.envs.episodes import EpisodeName, RewardName
    from fiveup_env.jax.state import Game

MOST_PARTS: Final = 1 << 10


class Options(RuleFields, total=False):
    """The keywords of `FiveUp`, for interfaces that hand them on."""

    episode: EpisodeName
    reward: RewardName
    max_hands: int
    illegal_reward: float
    encoder: str | Encoder
    restart: bool
    deal_parts: int


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """One environment; a pytree.

    Attributes:
        current_player: the seat to move (int32).
        observation: its row (int8[row_size]).
        rewards: what the last step brought each seat (float32[players]).
        terminated: whether the last step ended the episode, or an earlier one did (bool).
        truncated: whether it was cut off instead (bool).
        legal_action_mask: the legal actions (bool[121]); all of them once the episode is over, so
            that no distribution over them is empty.
        game: the game itself, hidden tiles included, which no agent may see.
        final: the game as the last move left it: with `restart`, the end of the last episode.
    """

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    game: Game
    final: Game


class FiveUp:
    """The environment: functions of one game, for `jax.jit` and `jax.vmap`.

    Args:
        rules: The name of a preset, or a `Rules`.
        players: 2 to 5; None means as many as the rules have.
        episode: A whole `game`, or a single `hand`.
        reward: What a move brings each seat: `win`, `points` or `margin`.
        max_hands: The number of hands after which an episode is cut off; 0 means never.
        illegal_reward: What an illegal action, which ends the episode, brings its player.
        encoder: `flat`, the only encoder there is in JAX.
        restart: Whether a step that ends an episode starts the next one of its stream, as `Batch`
            does; `terminated` and `rewards` are then those of the episode that ended.
        deal_parts: Under `jax.vmap`, games that need a deal are dealt to in parts of one in this
            many of all games; 0 deals to all of them in every step.
        **fields: Fields of the rules that override those of `rules`.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If the number of players is not from 2 to 5.
        EncoderError: If it is another encoder.
        OptionError: If another option has a value that is not allowed.

    >>> env = FiveUp(players=2)
    >>> state = jax.jit(env.init)(7)
    >>> state.observation.shape, state.legal_action_mask.shape
    ((557,), (121,))
    """

    num_actions: Final = ACTION_COUNT

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        episode: EpisodeName = "game",
        reward: RewardName = "win",
        max_hands: int = 0,
        illegal_reward: float = -1.0,
        encoder: str | Encoder = "flat",
        restart: bool = False,
        deal_parts: int = episodes.PARTS,
        **fields: Unpack[RuleFields],
    ) -> None:
        check_fields(fields, FiveUp)
        self.rules = Rules.of(rules, players, **fields)
        self.encoder = get_encoder(encoder)
        if self.encoder is not get_encoder("flat"):
            raise EncoderError(f"the games in JAX have the encoder flat, not {self.encoder.name}")
        if whole(deal_parts, 0, MOST_PARTS) is None:
            raise OptionError(
                f"deal_parts must be a whole number from 0 to {MOST_PARTS}, not {shown(deal_parts)}"
            )
        self.num_players = self.rules.players
        self.observation_shape = (row_size(self.encoder),)
        self._values = values_of(self.rules)
        self._options = Episodes(episode, reward, max_hands, "terminate", illegal_reward)
        self._restart = checked_flag(restart, "restart")
        self._parts = deal_parts

    def init(self, seed: Any, index: Any = 0) -> State:
        """Start the game that a seed names: the deals of `Game(seed=seed)`.

        Args:
            seed: A seed, or a JAX key; see `words.as_seed`.
            index: With `restart`, later episodes are those of the stream of this seed and index.

        Raises:
            SeedError: If it is not a seed.
        """
        seed = as_seed(seed)
        return self._first(episodes.init(self._values, seed, stream_key(seed, index)))

    def init_stream(self, seed: Any, index: Any = 0) -> State:
        """Start the stream that a seed and an index name.

        `jax.vmap(env.init_stream, (None, 0))(0, jnp.arange(64))` plays the games of
        `Batch(64, seed=0)`.
        """
        return self._first(episodes.init_stream(self._values, stream_key(as_seed(seed), index)))

    def step(self, state: State, action: Any) -> State:
        """Make a move; an action that is illegal, or none at all, ends the episode."""
        game, result = episodes.step(
            self._values,
            state.game,
            action,
            self._options,
            restart=self._restart,
            parts=self._parts,
        )
        return self._state(game, result)

    def observe(self, state: State, seat: Any = None) -> Array:
        """Return the row of a seat, or of the seat to move: int8[row_size]."""
        return rows.observe(self._values, state.game, seat)

    def observe_final(self, state: State, seat: Any = None) -> Array:
        """Return the row of a seat as the last move left the game, before the next deal."""
        return rows.observe(self._values, state.final, seat)

    def truth(self, state: State, seat: Any = None) -> Array:
        """Return what is hidden from a seat, or from the seat to move: int8[168], for critics."""
        return rows.truth(self._values, state.game, seat)

    def _first(self, game: Game) -> State:
        no = jnp.zeros((), bool)
        rewards = jnp.zeros(len(game.scores), jnp.float32)
        return self._state(game, episodes.StepResult(rewards, no, no, game))

    def _state(self, game: Game, result: episodes.StepResult) -> State:
        return State(
            current_player=game.turn.astype(jnp.int32),
            observation=rows.observe(self._values, game),
            rewards=result.rewards[: self.num_players],
            terminated=result.terminated,
            truncated=result.truncated,
            legal_action_mask=legal(self._values, game) | (game.ending != 0),
            game=game,
            final=result.final,
        )
