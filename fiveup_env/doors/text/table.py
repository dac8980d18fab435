"""A game with language models in several seats, such as two partners, each in a talk of its own.

table = TextTable(players=4, agents={1: "partner", 3: "partner"}, reward="loss")
table.reset(seed=7)
while table.turn is not None:
    table.answer(models[table.turn](table.prompt))
print(table.rewards)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.checks import whole
from fiveup_env.doors.text.talk import told_apart
from fiveup_env.envs.aec import raw_env
from fiveup_env.errors import SeatError, WrongMomentError, shown
from fiveup_env.opponents.agent import unchecked
from fiveup_env.opponents.mixtures import drawn
from fiveup_env.opponents.registry import get_agent
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from typing_extensions import Unpack

    from fiveup_env.doors.text.talk import TalkOptions
    from fiveup_env.envs.episodes import EpisodeName
    from fiveup_env.envs.opponents import Opponent
    from fiveup_env.game.game import Game
    from fiveup_env.rules.fields import Rules


class TextTable:
    """A game in which language models play some of the seats, and agents the others.

    A prompt holds what its seat may know, and a talk what its own model has written: nobody is
    shown another's. When one model is wrong too often the episode ends for all, and its side
    forfeits it.

    Args:
        agents: By seat, the agents that play there; models play all other seats.
        rules, players, episode, max_hands: Those of `raw_env`.
        **options: Those of every seat's `Talk`, and fields of the rules, as `TextEnv` takes them.

    Attributes:
        turn: the seat whose model is asked, or None if the episode is over, or none has begun.
        rewards: by seat, of each answer: what the seat received from that until its next one.
        outcomes: by seat, what the game itself has brought.
        infos: by seat, what was said of its last answer, as `TextEnv` says it; at the end also the
            `winner`, the `scores` and how the episode `ended`.
        talks: by seat, the talk, which counts its `usage`.

    Raises:
        SeatError: If there is no such seat, or none is left for a model.
        FiveUpError: As `TextEnv` does.
    """

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        agents: Mapping[int, Opponent],
        episode: EpisodeName = "hand",
        max_hands: int = 0,
        **options: Unpack[TalkOptions],
    ) -> None:
        """Make the table; `reset` deals."""
        one, fields = told_apart(options, TextTable)
        self._aec = raw_env(
            rules, players, episode=episode, reward=one.points, max_hands=max_hands, **fields
        )
        self._pays_loss = one.pays_loss
        count = self._aec.rules.players
        for seat in agents:
            if whole(seat, 0, count - 1) is None:
                raise SeatError(f"agents sit at seats 0 to {count - 1}, not at {shown(seat)}")
        self._agents = {int(seat): get_agent(agent) for seat, agent in agents.items()}
        seats = [seat for seat in range(count) if seat not in self._agents]
        self.talks = {seat: told_apart(options, TextTable)[0] for seat in seats}
        if not self.talks:
            raise SeatError(f"agents play all {count} seats, and none is left for a model")
        self.turn: int | None = None
        self.rewards: dict[int, list[float]] = {}
        self.outcomes: dict[int, float] = {}
        self.infos: dict[int, dict[str, Any]] = {}

    @property
    def game(self) -> Game:
        """The episode so far, with the moves of all seats; as a copy."""
        return self._aec.game

    @property
    def prompt(self) -> str:
        """The question to the model of the seat to move, after what its last answer was told."""
        return "\n\n".join(
            [*filter(None, [self._said]), self.talks[self._asked].prompt(self._view())]
        )

    def reset(self, *, seed: int | None = None) -> None:
        """Deal the game that a seed names, or the next one, and let agents move up to a model."""
        self._aec.reset(seed)
        seed = self._aec.game.seed
        self._rngs = {seat: keyed_rng("text table", seed, seat) for seat in self._agents}
        self._playing = {
            seat: unchecked(drawn(agent, seed, seat)) for seat, agent in self._agents.items()
        }
        for talk in self.talks.values():
            talk.begin()
        self.rewards = {seat: [] for seat in self.talks}
        self.outcomes = dict.fromkeys(self.talks, 0.0)
        self.infos = {seat: {} for seat in self.talks}
        self._said = ""
        self._go_on()

    def answer(self, text: str) -> None:
        """Take the answer of the model that is asked; raise WrongMomentError if none is."""
        seat, view = self._asked, self._view()
        heard = self.talks[seat].hear(text, view)
        self.rewards[seat].append(heard.reward)
        self.infos[seat], self._said = heard.info, heard.said
        if heard.move is None:
            if heard.over:
                self._forfeit(seat)
            return
        loss = self.talks[seat].loss(heard.move, view, len(self._aec.game.moves))
        if loss is not None:
            self.infos[seat]["loss"] = loss
            if self._pays_loss:
                self.rewards[seat][-1] -= loss["points"]
        self._move(heard.move.action)
        self._go_on()

    @property
    def _asked(self) -> int:
        if self.turn is None:
            raise WrongMomentError("nobody is asked: call reset()")
        return self.turn

    def _view(self) -> np.ndarray:
        return self._aec.view(f"player_{self._asked}")

    def _move(self, action: int) -> None:
        """Make a move, and add what it brought every seat."""
        self._aec.step(action)
        for seat, rewards in self.rewards.items():
            brought = self._aec.rewards[f"player_{seat}"]
            self.outcomes[seat] += brought
            if rewards and not self._pays_loss:
                rewards[-1] += brought

    def _go_on(self) -> None:
        """Let agents move until a model is asked, or the episode is over."""
        aec = self._aec
        while not (aec.terminations[aec.agent_selection] or aec.truncations[aec.agent_selection]):
            self.turn = aec.possible_agents.index(aec.agent_selection)
            if self.turn in self.talks:
                return
            chosen = self._playing[self.turn](aec.view(aec.agent_selection), self._rngs[self.turn])
            self._move(int(chosen[0]))
        self.turn, end = None, aec.infos[aec.agent_selection]
        said = {"winner": int(end["winner"]), "scores": [*map(int, end["scores"])]}
        for info in self.infos.values():
            info.update(said, ended=end["ended"])

    def _forfeit(self, seat: int) -> None:
        """End the episode for all; a partner forfeits it, too."""
        rules, self.turn = self._aec.rules, None
        for other, rewards in self.rewards.items():
            self.infos[other]["ended"] = "illegal"
            if other != seat and rules.side_of(other) == rules.side_of(seat) and rewards:
                rewards[-1] += self.talks[seat].costs.forfeit
