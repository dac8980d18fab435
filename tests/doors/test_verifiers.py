"""Verifiers before 0.4: its environment for Gymnasium's environments plays `TextEnv` as it is."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from fiveup_env.doors.text import TextEnv

pytest.importorskip("verifiers", reason="the door to Verifiers (no Verifiers)")
import verifiers as vf

OPTIONS: Any = {"rules": "five_up", "players": 2, "target": 10, "reward": "margin"}


def first_move(prompt: str) -> str:
    """Return the first of the legal moves that a prompt lists, or nothing where it lists none."""
    match = re.search(r"Your legal moves?: (.*?)[,.]", prompt)
    return match[1] if match else ""


class _Scripted(vf.Client):  # type: ignore[misc]
    """A model that answers with the first legal move; it is asked once more after the end."""

    def setup_client(self, config: Any) -> None: ...

    async def to_native_tool(self, tool: Any) -> Any: ...

    async def to_native_prompt(self, messages: Any) -> Any:
        return messages, {}

    async def get_native_response(self, prompt: Any, *_: Any, **__: Any) -> str:
        return first_move(prompt[-1].content)

    async def raise_from_native_response(self, response: Any) -> None: ...

    async def from_native_response(self, response: str) -> Any:
        from verifiers.types import Response, ResponseMessage

        message = ResponseMessage(content=response, finish_reason="stop", is_truncated=False)
        return Response(id="0", created=0, model="scripted", message=message)

    async def close(self) -> None: ...


def played(seed: int) -> tuple[str, float]:
    """Return the first prompt of an episode, and the sum of its rewards."""
    env, rewards, over = TextEnv(**OPTIONS), 0.0, False
    prompt, _ = env.reset(seed=seed)
    first = prompt
    while not over:
        prompt, reward, terminated, truncated, _ = env.step(first_move(prompt))
        rewards, over = rewards + reward, terminated or truncated
    return first, rewards


def test_a_rollout_has_the_prompts_and_the_rewards_of_the_environment() -> None:
    env = vf.GymEnv(TextEnv, OPTIONS, num_train_episodes=1, num_eval_episodes=4, seed=5)
    results = asyncio.run(env.evaluate(_Scripted(None), "scripted", num_examples=4))
    assert len(results["outputs"]) == 4
    for row in results["outputs"]:
        prompt, reward = played(int(row["answer"]))
        assert row["prompt"][-1]["content"] == prompt
        assert row["reward"] == pytest.approx(reward)
        assert row["error"] is None
