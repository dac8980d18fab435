"""OpenSpiel's bots as agents of our arena; OpenSpiel is imported only when one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.view import legal_masks
from fiveup_env.errors import AgentError
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.doors.openspiel import FiveUpGame

    # From a game, a seat and a random generator for the bot: a bot whose `step` needs only a state.
    BotMaker = Callable[[FiveUpGame, int, np.random.RandomState], Any]


LEAST_SIMULATIONS: Final = 2  # the first makes the tree's root, where nothing has been tried yet


class BotAgent:
    """An agent that asks an OpenSpiel bot, made anew for every decision.

    The bot never gets the real state, but one that its seat cannot distinguish from it. There, each
    hand is an episode of its own, and its return is the margin.
    """

    def __init__(self, make_bot: BotMaker) -> None:
        """Ask the bots made by a function."""
        self._make_bot = make_bot

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view; the bot is not asked about forced moves."""
        masks = legal_masks(views)
        actions = masks.argmax(1).astype(np.int64)
        for i in np.flatnonzero(masks.sum(1) > 1):
            game = _game_of(Rules.from_struct(views[i]["public"]["rules"]))
            state = game.state_of(views[i : i + 1], rng)
            chance = np.random.RandomState(rng.integers(1 << 32))
            actions[i] = self._make_bot(game, int(views[i]["seat"]), chance).step(state)
        return actions


@dataclass
class OpenSpielIsmcts(BotAgent):
    """OpenSpiel's IS-MCTS with random playouts: slow, but an independent implementation."""

    simulations: int = field(default=100, metadata={"help": "simulations per decision"})
    explore: float = field(default=5.0, metadata={"help": "exploration constant of UCT"})

    def __post_init__(self) -> None:
        """Refuse options that cannot be played, and a missing OpenSpiel."""
        if self.simulations < LEAST_SIMULATIONS or self.explore <= 0:
            raise AgentError(
                f"openspiel needs simulations= of {LEAST_SIMULATIONS} or more and explore= above "
                f"0, not simulations={self.simulations} and explore={self.explore}"
            )
        import fiveup_env.doors.openspiel  # noqa: F401 - its error says how to install OpenSpiel

        super().__init__(self._ismcts)

    def _ismcts(self, game: FiveUpGame, seat: int, chance: np.random.RandomState) -> Any:
        from open_spiel.python.algorithms.ismcts import ISMCTSBot
        from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

        del seat
        playouts = RandomRolloutEvaluator(1, chance)
        bot = ISMCTSBot(game, playouts, self.explore, self.simulations, random_state=chance)
        # The bot's own sampler cannot be seeded.
        bot.set_resampler(
            lambda state, player: state.resample_from_infostate(player, chance.random_sample)
        )
        return bot


@cache
def _game_of(rules: Rules) -> FiveUpGame:
    from fiveup_env.doors.openspiel import load

    return load(rules)
