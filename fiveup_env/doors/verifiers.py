"""Verifiers (v1): language models at one table, each in a conversation of its own.

Verifiers finds environments as modules by their names. Two lines in `fiveup_v1.py` make one, which
its commands and trainers take as `fiveup-v1`:

    from fiveup_env.doors.verifiers import FiveUpEnv, FiveUpTaskset
    __all__ = ["FiveUpEnv", "FiveUpTaskset"]

A model plays seat 0; with `partner_seat`, another one plays there, and both learn. Agents of the
library play the other seats.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from fiveup_env.doors.text import TextTable
from fiveup_env.errors import MissingExtraError
from fiveup_env.opponents.trust import check_spec
from fiveup_env.rules.fields import Rules

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise MissingExtraError(
        "Verifiers 0.4 or later is needed: pip install 'fiveup-env[verifiers]'", error
    ) from None

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FiveUpEnv", "FiveUpTaskset"]

CHAT = {"id": "null"}  # the harness of a conversation without tools of its own


class FiveUpData(vf.TaskData):
    """The deal of an episode."""

    seed: int = 0


class FiveUpTask(vf.Task[FiveUpData]):
    """An episode from a deal; the table opens the conversations."""


class FiveUpTasksetConfig(vf.TasksetConfig):
    """Which deals there are."""

    first: int = 0
    games: int = 1_000


class FiveUpTaskset(vf.Taskset[FiveUpTask, FiveUpTasksetConfig]):
    """Deals, each named by its seed."""

    def load(self) -> Iterator[FiveUpTask]:
        """Yield the deals."""
        for k in range(self.config.games):
            yield FiveUpTask(FiveUpData(idx=k, seed=self.config.first + k), self.config.task)


class FiveUpEnvConfig(vf.EnvConfig):
    """Who plays, and what: `table` holds options of `TextTable`."""

    player: vf.AgentConfig = vf.AgentConfig(harness=CHAT)
    partner: vf.AgentConfig = vf.AgentConfig(harness=CHAT)
    partner_seat: int | None = None
    rules: str = "five_up"
    players: int = 2
    opponents: str = "partner"
    table: dict[str, Any] = {"reward": "loss"}  # noqa: RUF012  pydantic copies it


class FiveUpEnv(vf.Env[FiveUpEnvConfig]):
    """One episode: the table asks each model at its turns, and pays it for its own answers."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play a deal; each conversation is rewarded with the sum of what its answers brought."""
        config, roles = self.config, {0: agents.player}
        check_spec(config.opponents)  # it may stand in a file
        if config.partner_seat is not None:
            roles[config.partner_seat] = agents.partner
        seats = range(Rules.preset(config.rules, config.players).players)
        others = {seat: config.opponents for seat in seats if seat not in roles}
        table = TextTable(config.rules, config.players, agents=others, **config.table)
        table.reset(seed=task.data.seed)
        async with AsyncExitStack() as stack:
            talks = {
                seat: await stack.enter_async_context(role.interaction(task))
                for seat, role in roles.items()
            }
            while table.turn is not None:
                segment = await talks[table.turn].turn(table.prompt)
                if segment.terminated:  # by a limit of its own
                    break
                await asyncio.to_thread(table.answer, segment.last_reply)
            for seat, talk in talks.items():
                talk.trace.record_reward("fiveup", sum(table.rewards[seat]))
                talk.trace.info["answers"] = table.rewards[seat]
                talk.trace.info["end"] = table.infos[seat] | dict(table.talks[seat].usage)
