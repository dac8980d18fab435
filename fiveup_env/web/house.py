"""What one server offers, to whom, and the threads in which it thinks."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from anyio import CapacityLimiter, to_thread

from fiveup_env.analysis.trials import REFERENCE
from fiveup_env.checks import whole
from fiveup_env.errors import OptionError, RequestError, shown
from fiveup_env.web.offers import checked_offer
from fiveup_env.web.table import Setup
from fiveup_env.web.visitors import Visitors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from fiveup_env.game.game import Game
    from fiveup_env.web.frames import Json

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
THINKING: Final = 2  # eyes and studies that are computed at the same time
Result = TypeVar("Result")
Check: TypeAlias = "Callable[[], None]"


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

    async def think(self, work: Callable[[], Result]) -> Result:
        """Return what some work finds, done in a thread for which no table waits."""
        return await to_thread.run_sync(work, limiter=self.thinking)

    async def think_for(self, request: Request, work: Callable[[Check], Result]) -> Result:
        """Return what some work finds, unless whoever asked for it leaves.

        The work is given a function to call from time to time, which raises RequestError then. It
        does not begin if it was still waiting for a thread.
        """
        left = threading.Event()

        def check() -> None:
            if left.is_set():
                raise RequestError("whoever asked has left")

        def begin() -> Result:
            check()
            return work(check)

        watching = asyncio.ensure_future(_note_leaving(request, left))
        try:
            return await self.think(begin)
        finally:
            watching.cancel()

    def check_offer(self, body: Json) -> None:
        """Raise OptionError or AgentError if a request names opponents that it may not have."""
        if "opponents" in body:
            checked_offer(body["opponents"], self.default.specs)


async def _note_leaving(request: Request, left: threading.Event) -> None:
    """Wait until whoever sent a request, all of which was read, has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    left.set()


def is_narrow(request: Request) -> bool:
    """Return whether the page that asks is as narrow as a phone."""
    return "narrow" in request.query_params


def version_in(body: Json) -> int:
    """Return the version of the table that a request means."""
    version = whole(body.get("version"), 0, 1 << 62)
    if version is None:
        raise OptionError(f"version is that of the table, not {shown(body.get('version'))}")
    return version
