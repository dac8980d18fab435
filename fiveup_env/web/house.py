"""What one server offers, to whom, and the threads in which it thinks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from anyio import CapacityLimiter, to_thread

from fiveup_env.checks import whole
from fiveup_env.errors import OptionError, shown
from fiveup_env.judging.trials import REFERENCE
from fiveup_env.web.offers import checked_offer
from fiveup_env.web.table import Setup
from fiveup_env.web.visitors import Visitors

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from fiveup_env.game.game import Game
    from fiveup_env.web.frames import Json

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
THINKING: Final = 2  # eyes and studies that are computed at the same time
Result = TypeVar("Result")


@dataclass
class House:
    """What one server offers, and to whom."""

    default: Setup = field(default_factory=Setup)
    advisers: Sequence[str] = (REFERENCE,)
    reference: str = REFERENCE
    games: Sequence[Game] = ()  # the records that the command line named, to study
    hosts: frozenset[str] | None = LOOPBACK
    visitors: Visitors = field(default_factory=Visitors)
    thinking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(THINKING))
    jobs: set[asyncio.Task[None]] = field(default_factory=set)

    async def think(self, work: Callable[[], Result]) -> Result:
        """Return what some work finds, done in a thread for which no table waits."""
        return await to_thread.run_sync(work, limiter=self.thinking)

    def check_offer(self, body: Json) -> None:
        """Raise OptionError or AgentError if a request names opponents that it may not have."""
        if "opponents" in body:
            checked_offer(body["opponents"], self.default.specs)


def is_narrow(request: Request) -> bool:
    """Return whether the page that asks is as narrow as a phone."""
    return "narrow" in request.query_params


def version_in(body: Json) -> int:
    """Return the version of the table that a request means."""
    version = whole(body.get("version"), 0, 1 << 62)
    if version is None:
        raise OptionError(f"version is that of the table, not {shown(body.get('version'))}")
    return version
