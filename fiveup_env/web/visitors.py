"""Whose tables and studies are whose, and how much each visitor may have and ask for.

A visitor is known by a random cookie. What belongs to another visitor does not exist for anybody
else. Where there are too many visitors, or too many tables of one, the one longest unused goes.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from fiveup_env.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.web.study import Study
    from fiveup_env.web.table import Table

MOST_VISITORS: Final = 2_000
MOST_TABLES: Final = 16  # of one visitor, and as many studies
# How many at once, and how many a second after that.
REQUESTS: Final = (60, 20)  # of one visitor
ARRIVALS: Final = (200, 20)  # of new visitors

Kept = TypeVar("Kept")


class Shelf(Generic[Kept]):
    """Things by a random name; the one longest unused goes when there are too many."""

    def __init__(self, most: int) -> None:
        """Keep at most this many."""
        self._most = most
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def add(self, thing: Kept) -> str:
        """Keep a thing, and return its name."""
        name = secrets.token_hex(16)
        self._kept[name] = thing
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return name

    def get(self, name: str) -> Kept | None:
        """Return the thing of a name, or None."""
        if name in self._kept:
            self._kept.move_to_end(name)
        return self._kept.get(name)

    def latest(self) -> str | None:
        """Return the name of the thing last used, or None if there is none."""
        return next(reversed(self._kept), None)

    def __len__(self) -> int:
        """Return how many things are kept."""
        return len(self._kept)


class Bucket:
    """A limit on requests: `burst` at once, then `a_second`."""

    def __init__(
        self, burst: int, a_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with a full bucket."""
        self._burst, self._a_second, self._clock = burst, a_second, clock
        self._left, self._at = float(burst), clock()

    def take(self) -> None:
        """Take one; raise RequestError if none is left."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._a_second)
        self._at = now
        if self._left < 1:
            raise RequestError("too many requests; wait a second", 429)
        self._left -= 1


@dataclass
class Visitor:
    """What one visitor has."""

    tables: Shelf[Table] = field(default_factory=lambda: Shelf(MOST_TABLES))
    studies: Shelf[Study] = field(default_factory=lambda: Shelf(MOST_TABLES))
    requests: Bucket = field(default_factory=lambda: Bucket(*REQUESTS))

    def table(self, name: str) -> Table:
        """Return a table; raise RequestError if this visitor has none of that name."""
        if (table := self.tables.get(name)) is None:
            raise RequestError("there is no such table, or it is gone; begin a new game", 404)
        return table

    def study(self, name: str) -> Study:
        """Return a study; raise RequestError if this visitor has none of that name."""
        if (study := self.studies.get(name)) is None:
            raise RequestError("there is no such study, or it is gone; open the record again", 404)
        return study


class Visitors:
    """All visitors by their cookies."""

    def __init__(self) -> None:
        """Begin with an empty house."""
        self._shelf: Shelf[Visitor] = Shelf(MOST_VISITORS)
        self._arrivals = Bucket(*ARRIVALS)

    def of(self, cookie: str | None) -> tuple[Visitor, str | None]:
        """Return the visitor of a cookie, or a new one with its cookie; count the request."""
        visitor = self._shelf.get(cookie) if cookie else None
        given = None
        if visitor is None:
            self._arrivals.take()
            visitor = Visitor()
            given = self._shelf.add(visitor)
        visitor.requests.take()
        return visitor, given
