"""What one server offers, whose tables are whose, and the threads in which it thinks."""

from __future__ import annotations

import asyncio
import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from anyio import CapacityLimiter, to_thread

from fiveup_env.analysis.trials import REFERENCE
from fiveup_env.checks import whole
from fiveup_env.errors import OptionError, RequestError, shown
from fiveup_env.play.table import Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game
    from fiveup_env.play.study import Study
    from fiveup_env.play.table import Table

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
THINKING: Final = 2  # eyes and studies that are computed at the same time
Result = TypeVar("Result")
Kept = TypeVar("Kept")
Check: TypeAlias = "Callable[[], None]"


@dataclass
class Visitor:
    """The tables and studies of one visitor, by their names."""

    tables: dict[str, Table] = field(default_factory=dict)
    studies: dict[str, Study] = field(default_factory=dict)
    latest: str | None = None  # the table last used

    def seat_at(self, table: Table) -> str:
        """Keep a table, and return its name."""
        self.latest = keep(self.tables, table)
        return self.latest

    def table(self, name: str) -> Table:
        """Return a table; raise RequestError if this visitor has none of that name."""
        if name not in self.tables:
            raise RequestError("there is no such table, or it is gone; begin a new game", 404)
        self.latest = name
        return self.tables[name]

    def study(self, name: str) -> Study:
        """Return a study; raise RequestError if this visitor has none of that name."""
        if name not in self.studies:
            raise RequestError("there is no such study, or it is gone; open the record again", 404)
        return self.studies[name]


def keep(things: dict[str, Kept], thing: Kept) -> str:
    """Keep a thing under a random name, and return the name."""
    name = secrets.token_hex(16)
    things[name] = thing
    return name


@dataclass
class House:
    """What one server offers, and to whom."""

    default: Setup = field(default_factory=Setup)
    advisers: Sequence[str] = (REFERENCE,)
    reference: str = REFERENCE
    games: Sequence[Game] = ()  # the records that the command line named, to study
    hosts: frozenset[str] | None = LOOPBACK
    visitors: dict[str, Visitor] = field(default_factory=dict)  # by their cookies
    thinking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(THINKING))

    def visitor(self, cookie: str | None) -> tuple[Visitor, str | None]:
        """Return the visitor of a cookie and None, or a new visitor and the cookie to set."""
        if cookie in self.visitors:
            return self.visitors[cookie], None
        visitor = Visitor()
        return visitor, keep(self.visitors, visitor)

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
