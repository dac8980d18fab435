"""Verifiers: an episode is a table, whose models are asked and paid each in its own talk."""

from __future__ import annotations

import asyncio
import inspect
import textwrap
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fiveup_env.doors.text import TextTable
from tests.doors.test_text_table import listed

pytest.importorskip("verifiers.v1", reason="the door to Verifiers (no Verifiers)")
from verifiers.v1.agent import Segment
from verifiers.v1.types import AssistantMessage
from verifiers.v1.utils.loaders import load_environment

from fiveup_env.doors import verifiers as door
from fiveup_env.doors.verifiers import FiveUpData, FiveUpEnv, FiveUpEnvConfig, FiveUpTask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

WRONG = ("", "<system>pass</system>", "x" * 100_000)


def answer(prompt: str, number: int) -> str:
    """Return what a scripted model answers: at times what is wrong, else a legal move."""
    moves = listed(prompt)
    return WRONG[number % 3] if number % 4 == 3 else f"Hm.\n{moves[number % len(moves)]}"


class Role:
    """A model of Verifiers that follows the script; it notes its one conversation."""

    def __init__(self, limit: int = 10_000) -> None:
        self.asked: list[str] = []
        self.rewards: dict[str, float] = {}
        self.trace = SimpleNamespace(info={}, record_reward=self.rewards.__setitem__)
        self.limit = limit

    @asynccontextmanager
    async def interaction(self, task: Any) -> AsyncIterator[Role]:
        """Open the conversation."""
        assert task.data.prompt is None
        yield self

    async def turn(self, message: str) -> Segment:
        """Answer a prompt."""
        if len(self.asked) >= self.limit:
            return Segment(messages=[], terminated=True)
        self.asked.append(message)
        said = answer(message, len(self.asked))
        return Segment(messages=[AssistantMessage(content=said)])


def played(seed: int, config: FiveUpEnvConfig, **roles: Role) -> None:
    env: Any = SimpleNamespace(config=config)
    asyncio.run(FiveUpEnv.run(env, FiveUpTask(FiveUpData(seed=seed)), SimpleNamespace(**roles)))


@pytest.mark.parametrize("partner_seat", [None, 2])
def test_each_conversation_is_asked_and_paid_as_its_seat_at_the_table(
    partner_seat: int | None,
) -> None:
    options: Any = {"reward": "loss", "worlds": 8, "prompt": "notes"}
    config = FiveUpEnvConfig(
        players=4, partner_seat=partner_seat, opponents="greedy", table=options
    )
    for seed in range(3):
        roles = {"player": Role(), "partner": Role()}
        played(seed, config, **roles)
        seats = {0: roles["player"]} | ({2: roles["partner"]} if partner_seat else {})
        table = TextTable(
            players=4, agents={s: "greedy" for s in range(4) if s not in seats}, **options
        )
        table.reset(seed=seed)
        asked: dict[int, list[str]] = {seat: [] for seat in seats}
        while table.turn is not None:
            asked[table.turn].append(table.prompt)
            table.answer(answer(table.prompt, len(asked[table.turn])))
        for seat, role in seats.items():
            assert role.asked == asked[seat]
            assert role.rewards == {"fiveup": sum(table.rewards[seat])}
            assert role.trace.info["answers"] == table.rewards[seat]
            assert role.trace.info["end"]["answers"] == len(asked[seat])


def test_a_conversation_that_ends_by_a_limit_of_its_own_ends_the_episode() -> None:
    role = Role(limit=2)
    played(1, FiveUpEnvConfig(opponents="greedy", table={}), player=role, partner=Role())
    assert len(role.asked) == 2
    assert role.rewards.keys() == {"fiveup"}


def test_a_module_of_two_lines_is_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = inspect.getdoc(door).split("\n\n")[2]  # type: ignore[union-attr]
    (tmp_path / "fiveup_v1.py").write_text(textwrap.dedent(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    env = load_environment(FiveUpEnvConfig(taskset={"id": "fiveup-v1", "games": 3, "first": 7}))
    assert isinstance(env, FiveUpEnv)
    assert [task.data.seed for task in env.taskset] == [7, 8, 9]
