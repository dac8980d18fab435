"""OpenSpiel's bots as agents of our arena. OpenSpiel is imported only when one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.errors import AgentError
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.adapters.openspiel import FiveUpGame

    # A game, the bot's seat and chance of its own; a bot whose `step` needs the state alone.
    BotMaker = Callable[[FiveUpGame, int, np.random.RandomState], Any]


class BotAgent:
    """An agent that asks a bot of OpenSpiel, made anew for every decision.

    The bot is handed a state that its seat cannot tell from the real one, never the real one. Each
    hand is an episode of its own there, and brings its margin.
    """

    def __init__(self, make_bot: BotMaker) -> None:
        """Ask the bots that a function makes."""
        self._make_bot = make_bot

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view; where there is but one, the bot is not asked."""
        actions = masks.argmax(1).astype(np.int64)
        for i in np.flatnonzero(masks.sum(1) > 1):
            game = _game_of(Rules.from_struct(views[i]["public"]["rules"]))
            state = game.state_of(views[i : i + 1], random)
            chance = np.random.RandomState(random.integers(1 << 32))
            actions[i] = self._make_bot(game, int(views[i]["seat"]), chance).step(state)
        return actions


@dataclass
class OpenSpielIsmcts(BotAgent):
    """OpenSpiel's IS-MCTS with random playouts: slow, but written by others."""

    simulations: int = field(default=100, metadata={"help": "walks down the tree a decision"})
    explore: float = field(default=5.0, metadata={"help": "how much what is unsure is tried"})

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if self.simulations < 1 or self.explore <= 0:
            raise AgentError("openspiel needs simulations= of 1 or more, and explore= above 0")
        import fiveup_env.adapters.openspiel  # noqa: F401 - it says how to install OpenSpiel

        super().__init__(self._ismcts)

    def _ismcts(self, game: FiveUpGame, seat: int, chance: np.random.RandomState) -> Any:
        from open_spiel.python.algorithms.ismcts import ISMCTSBot
        from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

        del seat
        playouts = RandomRolloutEvaluator(1, chance)
        bot = ISMCTSBot(game, playouts, self.explore, self.simulations, random_state=chance)
        # Its own sampler cannot be given a seed.
        bot.set_resampler(
            lambda state, player: state.resample_from_infostate(player, chance.random_sample)
        )
        return bot


@cache
def _game_of(rules: Rules) -> FiveUpGame:
    from fiveup_env.adapters.openspiel import load

    return load(rules)
