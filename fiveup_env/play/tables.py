"""The routes of tables: sit down, look, move, take back, and open eyes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import JSONResponse

from fiveup_env.errors import (
    IllegalMoveError,
    InvalidMoveError,
    OptionError,
    WrongMomentError,
    shown,
)
from fiveup_env.opponents.registry import known_agents, needed_options
from fiveup_env.play.eyes import advice_of, hidden_of, outlook_of_view
from fiveup_env.play.frames import state_of
from fiveup_env.play.guard import body_of, refusal
from fiveup_env.play.house import House, Visitor, is_narrow, version_in
from fiveup_env.play.table import Setup, Table, setup_of
from fiveup_env.rules.fields import MAX_PLAYERS, MIN_PLAYERS
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from fiveup_env.files import Json
    from fiveup_env.play.sights import Sight


class Tables:
    """The handlers of tables."""

    def __init__(self, house: House) -> None:
        """Serve the tables of a house."""
        self._house = house

    async def choices(self, _visitor: Visitor, _request: Request) -> Response:
        """Return what a new game may be."""
        house = self._house
        return JSONResponse(
            {
                "rules": PRESETS,
                "players": list(range(MIN_PLAYERS, MAX_PLAYERS + 1)),
                "agents": sorted(n for n, one in known_agents().items() if not needed_options(one)),
                "advisers": list(house.advisers),
                "reference": house.reference,
                "games": len(house.games),
                "default": {
                    "rules": house.default.rules.name,
                    "players": house.default.rules.players,
                    "seat": house.default.seat,
                    "opponents": house.default.opponents,
                },
            }
        )

    async def latest(self, visitor: Visitor, _request: Request) -> Response:
        """Return the name of the table last used, or null."""
        return JSONResponse({"table": visitor.latest})

    async def sit_down(self, visitor: Visitor, request: Request) -> Response:
        """Begin a new game."""
        body = await body_of(request)
        setup = setup_of(body, self._house.default) if body else self._first(visitor)
        table = await to_thread.run_sync(Table, setup)
        return await self._seat(visitor, table, request)

    def _first(self, visitor: Visitor) -> Setup:
        """Return the setup of the command line; its seed names one game, the visitor's first."""
        default = self._house.default
        return replace(default, seed=None) if visitor.tables else default

    async def _seat(self, visitor: Visitor, table: Table, request: Request) -> Response:
        state = await to_thread.run_sync(state_after, table, Table.start, is_narrow(request))
        return JSONResponse({"table": visitor.seat_at(table), **state}, 201)

    async def look(self, visitor: Visitor, request: Request) -> Response:
        """Return how a table stands."""
        return await self._changed(visitor, request, _nothing)

    async def move(self, visitor: Visitor, request: Request) -> Response:
        """Make a move."""
        body = await body_of(request)
        move, version = body.get("move"), version_in(body)
        if not isinstance(move, str):
            raise InvalidMoveError(f"a move is text such as '5-3@5', not {shown(move)}")
        return await self._changed(visitor, request, lambda table: table.play(move, version))

    async def undo(self, visitor: Visitor, request: Request) -> Response:
        """Take back a move."""
        version = version_in(await body_of(request))
        return await self._changed(visitor, request, lambda table: table.undo(version))

    async def again(self, visitor: Visitor, request: Request) -> Response:
        """Begin the same deal once more."""
        version = version_in(await body_of(request))
        return await self._changed(visitor, request, lambda table: table.again(version))

    async def _changed(
        self, visitor: Visitor, request: Request, change: Callable[[Table], list[Sight]]
    ) -> Response:
        """Return what is seen of a change; a refused one comes with how the table stands."""
        table, narrow = visitor.table(request.path_params["name"]), is_narrow(request)
        try:
            return JSONResponse(await to_thread.run_sync(state_after, table, change, narrow))
        except (IllegalMoveError, InvalidMoveError, WrongMomentError) as error:
            status = refusal(error).status_code
            state = await to_thread.run_sync(state_after, table, _nothing, narrow)
            return JSONResponse({"error": str(error), **state}, status)

    async def eyes(self, visitor: Visitor, request: Request) -> Response:
        """Return what an adviser, the exact belief or playouts see in a position."""
        body, table = await body_of(request), visitor.table(request.path_params["name"])
        eye, version = body.get("eye"), version_in(body)
        adviser = body.get("adviser", self._house.advisers[0])
        if adviser not in self._house.advisers:
            raise OptionError(f"{shown(adviser)} is not an adviser here")
        view = await to_thread.run_sync(table.position, version)
        think = self._house.think_for
        if eye == "moves":
            advice = await think(request, lambda check: advice_of(adviser, view, check=check))
            found: Json = {"unit": advice.unit, "adviser": adviser, "moves": advice.moves}
        elif eye == "hidden":
            found = await think(request, lambda _: hidden_of(view))
        elif eye == "chance":
            reference = self._house.reference
            found = await think(request, lambda _: outlook_of_view(reference, view))
        else:
            raise OptionError(f"an eye is moves, hidden or chance, not {shown(eye)}")
        return JSONResponse({"eye": eye, "version": version, **found})


def state_after(table: Table, change: Callable[[Table], list[Sight]], narrow: bool) -> Json:  # noqa: FBT001 - for a thread
    """Change a table, and return its state, before another thread changes it again."""
    with table.lock:
        return state_of(table, change(table), narrow=narrow)


def _nothing(table: Table) -> list[Sight]:
    """Change nothing."""
    return [table.now]
