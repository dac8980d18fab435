"""Mixtures: one agent for each episode, in environments, tournaments and at the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fiveup_env import Game
from fiveup_env.arena.play.apart import Apart
from fiveup_env.arena.play.games import Terms, _Chunk, play_chunk
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import AgentError
from fiveup_env.opponents import registry
from fiveup_env.opponents.agent import Random
from fiveup_env.opponents.mixtures import Mixture, members_of
from fiveup_env.opponents.registry import make_agent, register_agent, split_specs
from fiveup_env.opponents.trust import check_spec
from fiveup_env.play.table import Setup, Table
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

TWO = "mix:low=3,high=1"
SHORT: dict[str, Any] = {"players": 2, "episode": "hand", "max_pip": 3, "hand_size": 3}


class Member(Random):
    """Plays at random, and keeps the hands that it was asked with."""

    hands: list[int]

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        type(self).hands += views["hand"].tolist()
        return super().choose_unchecked(views, rng)


class Low(Member):
    """The first member."""


class High(Member):
    """The second member."""


@pytest.fixture(autouse=True)
def _members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    register_agent("low", Low)
    register_agent("high", High)
    Low.hands, High.hands = [], []


def test_the_weight_stands_after_the_last_equals_sign_and_options_follow_their_member() -> None:
    text = "pimc:worlds=50,playout=partner=2,policy:family,sample=1=0.5,tests.x:Own=1,runs/a.zip=3"
    assert members_of(text) == [
        ("pimc:worlds=50,playout=partner", 2.0),
        ("policy:family,sample=1", 0.5),
        ("tests.x:Own", 1.0),
        ("runs/a.zip", 3.0),
    ]
    pair = "mix:pair:greedy,second=partner=1,greedy=1"
    assert [type(agent).__name__ for agent in make_agent(pair).agents] == ["Pair", "Greedy"]  # type: ignore[attr-defined]


def test_in_a_list_all_that_follows_a_mixture_belongs_to_it() -> None:
    text = "greedy,pimc:worlds=5,ms=2,mix:greedy=1,policy:family=2,mix:low=1,pimc:worlds=5=1"
    assert split_specs(text) == (
        "greedy",
        "pimc:worlds=5,ms=2",
        "mix:greedy=1,policy:family=2",
        "mix:low=1,pimc:worlds=5=1",
    )


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("mix", "a mixture names agents with weights above 0"),
        ("mix:greedy", r"\(in a list of agents, last\), not 'greedy'"),
        ("mix:greedy=0.5,random", "not 'random'"),
        ("mix:greedy=0", "above 0"),
        ("mix:greedy=-1", "above 0"),
        ("mix:greedy=nan", "above 0"),
        ("mix:greedy=1,partner=inf", "above 0"),
        ("mix:greedi=1", "did you mean 'greedy'"),
        ("mix:pimc:worlds=50", "worlds must be a int|pimc"),
        ("mix:mix:greedy=1=1", "no mixtures in it"),
        ("pair:mix:greedy=1,second=greedy", "pair has no mixtures in it"),
    ],
)
def test_what_is_no_mixture_is_refused(spec: str, match: str) -> None:
    with pytest.raises(AgentError, match=match):
        make_agent(spec)


def test_a_mixture_is_not_asked_without_an_episode() -> None:
    with pytest.raises(AgentError, match=r"drawn for each episode.*not mix:low=3,high=1"):
        Game(seed=1).ask(make_agent(TWO))
    with pytest.raises(AgentError, match="name one agent, not the mixture"):
        Apart(TWO)


def test_files_may_name_mixtures_of_what_they_may_name() -> None:
    check_spec("mix:greedy=1,pair:greedy,second=partner=2,policy:partners=1")
    for spec in (
        "mix:greedy=1,program:./bot=1",
        "mix:mix:greedy=1=1",
        "pair:mix:greedy=1,second=greedy",
    ):
        with pytest.raises(AgentError):
            check_spec(spec)


@pytest.mark.parametrize("kind", ["single", "vector"])
def test_each_episode_has_one_member_by_weight_and_by_seed(kind: str) -> None:
    seen = []
    for _ in range(2):
        Low.hands, High.hands = [], []
        if kind == "single":
            env = FiveUpEnv(opponents=TWO, **SHORT)
            for seed in (5, *[None] * 199):
                _, info = env.reset(seed=seed)
                over = False
                while not over:
                    _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        else:
            envs = FiveUpVectorEnv(50, opponents=TWO, seed=5, **SHORT)
            envs.reset()
            for _ in range(30):
                envs.step(envs.action_masks().argmax(1))
        assert len(High.hands) < len(Low.hands) < 6 * len(High.hands)
        seen.append([*Low.hands, *High.hands])
    assert seen[0] == seen[1]


def test_a_member_plays_its_episode_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = FiveUpVectorEnv(20, players=4, opponents=[TWO, "random", TWO], seed=2, episode="hand")
    asked: dict[tuple[int, int], set[Any]] = {}
    shares: Any = envs._shares

    def recorded(waiting: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        for agent, games in shares(waiting):
            for game in games.tolist():
                if (member := type(agent.__self__)) is not Random:
                    episode = int(envs.batch._episodes_played[game])
                    asked.setdefault((game, episode), set()).add(member)
            yield agent, games

    monkeypatch.setattr(envs, "_shares", recorded)
    envs.reset()
    for _ in range(40):
        envs.step(envs.action_masks().argmax(1))
    assert max(episode for _, episode in asked) > 2
    assert {len(members) for members in asked.values()} == {1}
    assert set.union(*asked.values()) == {Low, High}


def test_a_saved_vector_environment_goes_on_with_the_same_members() -> None:
    envs = FiveUpVectorEnv(20, opponents="mix:greedy=1,random=1", seed=3, **SHORT)
    envs.reset()
    for _ in range(7):
        envs.step(envs.action_masks().argmax(1))
    twin = FiveUpVectorEnv(20, opponents="mix:greedy=1,random=1", seed=3, **SHORT)
    twin.load(envs.save())
    for _ in range(20):
        actions = envs.action_masks().argmax(1)
        assert (envs.step(actions)[0] == twin.step(actions)[0]).all()


def test_a_deal_of_a_tournament_has_one_member_in_any_chunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[int, set[Any]] = {}
    decide = _Chunk.decide

    def recorded(chunk: Any, agent: int, asked_agent: Any, games_i: np.ndarray, rng: Any) -> None:
        for seed in chunk.seeds[games_i].tolist():
            if agent == 0:
                asked.setdefault(seed, set()).add(type(asked_agent.__self__))
        decide(chunk, agent, asked_agent, games_i, rng)

    monkeypatch.setattr(_Chunk, "decide", recorded)
    terms, seeds = Terms(Rules.of("five_up", 2), episode="hand"), np.arange(12, dtype=np.uint64)
    members = []
    for chunks in ([seeds], [seeds[:5], seeds[5:]]):
        asked.clear()
        for chunk in chunks:
            play_chunk([make_agent(TWO), Random()], ["mix", "random"], terms, chunk)
        members.append({**asked})
    assert members[0] == members[1]
    assert {len(drawn) for drawn in members[0].values()} == {1}
    assert set.union(*members[0].values()) == {Low, High}


def test_a_table_draws_a_member_for_its_game() -> None:
    members = set()
    for seed in range(12):
        table = Table(Setup(rules=Rules.of("five_up", 4), opponents=TWO, seed=seed))
        agents: list[Any] = list(table._agents.values())
        drawn = {type(agent.__self__) for agent in agents}
        assert len(drawn) == 1
        members |= drawn
    assert members == {Low, High}
    assert isinstance(make_agent(TWO), Mixture)
