"""OpenEnv: `TextEnv` as a server of environments, and its typed client.

fiveup openenv --players 2 --opponents partner --reward loss

with FiveUp(base_url="http://localhost:8000").sync() as env:
    seen = env.reset(seed=7).observation
    result = env.step(Answer(text="lead 5-0"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fiveup_env import __version__
from fiveup_env.doors.text import TextEnv
from fiveup_env.errors import MissingExtraError

try:
    from openenv.core import EnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
    from pydantic import Field
except ImportError as error:
    raise MissingExtraError(
        "OpenEnv 0.10 or later is needed: pip install 'fiveup-env[openenv]'", error
    ) from None

if TYPE_CHECKING:
    from fastapi import FastAPI

SESSIONS = 64  # at the same time


class Answer(Action):
    """An answer, whose last line is a move."""

    text: str = Field(description="such as 'I lead high.\\nlead 5-0'")


class Seen(Observation):
    """A prompt; `info` is that of `TextEnv`."""

    prompt: str = Field(default="", description="the rules, the position, and how to answer")
    info: dict[str, Any] = Field(default_factory=dict, description="as TextEnv says it")


class FiveUpEnvironment(Environment[Answer, Seen, State]):
    """A `TextEnv` with these options, for one session."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._env, self._state = TextEnv(**options), State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Seen:
        """Start an episode; `deal` among the options names the deal."""
        prompt, info = self._env.reset(seed=seed, options=options or None)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return Seen(prompt=prompt, info=info)

    def step(self, action: Answer, timeout_s: float | None = None, **_options: Any) -> Seen:
        """Take an answer."""
        del timeout_s
        prompt, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        return Seen(prompt=prompt, reward=reward, done=terminated or truncated, info=info)

    @property
    def state(self) -> State:
        """The number of answers so far; nothing of the game, whose tiles are hidden."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return what the environment is."""
        about = "Five Up and its family of dominoes, for one language model among opponents"
        return EnvironmentMetadata(name="fiveup", description=about, version=__version__)


class FiveUp(EnvClient[Answer, Seen, State]):
    """A session at a server."""

    def _step_payload(self, action: Answer) -> dict[str, Any]:
        return action.model_dump(exclude={"metadata"})

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Seen]:
        reward, done = payload.get("reward"), payload.get("done", False)
        seen = Seen(**payload["observation"] | {"reward": reward, "done": done})
        return StepResult(observation=seen, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def app_of(sessions: int = SESSIONS, **options: Any) -> FastAPI:
    """Return a server of `TextEnv` with these options; raise as that does."""
    TextEnv(**options)  # what is wrong is said before anybody connects
    return create_fastapi_app(
        lambda: FiveUpEnvironment(**options), Answer, Seen, sessions, env_name="fiveup"
    )
