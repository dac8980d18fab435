"""The server of the table: the page's files, agents that it may ask, and a folder for games."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute

from fiveup_env.errors import FiveUpError, RequestError, shown
from fiveup_env.play.answers import Answers
from fiveup_env.play.folder import game_in
from fiveup_env.play.guard import Guard, Hosts, body_of, refusal
from fiveup_env.play.lobby import MOST_CHARACTERS, Lobby
from fiveup_env.play.page import INDEX, page_files, type_of, with_offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from starlette.requests import Request

    from fiveup_env.files import Json
    from fiveup_env.play.folder import Folder

    Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Offer:
    """The settings of a server, its sessions, and the threads for slow requests."""

    setup: Json | None = None  # the game that the page begins with
    seed: str | None = None
    folder: Folder | None = None
    games: Sequence[Json] = ()  # those of a file, to study
    watched: Path | None = None  # the file of a game that goes on elsewhere
    answers: Answers = field(default_factory=Answers)
    hosts: Hosts = field(default_factory=Hosts)

    def settings(self) -> Json:
        """Return the settings that the page reads."""
        settings: Json = {"games": self.folder is not None, "study": bool(self.games)}
        if self.setup is not None:
            settings["setup"] = self.setup
        if self.seed is not None:
            settings["seed"] = self.seed
        return settings | {"watch": self.watched is not None}


def app_of(offer: Offer) -> Starlette:
    """Return the application that serves the page and what it offers."""
    files = page_files()
    files[INDEX] = with_offer(files[INDEX], offer.settings())

    async def file(request: Request) -> Response:
        path = request.path_params["path"] or INDEX
        if path not in files:
            raise RequestError(f"there is nothing for {shown(f'GET /{path}', str)}", 404)
        return Response(files[path], media_type=type_of(path))

    async def ask(request: Request) -> Response:
        body = await body_of(request)
        given = body.get("spec"), body.get("view"), body.get("key")
        return JSONResponse({"move": await to_thread.run_sync(offer.answers.answer, *given)})

    async def check(request: Request) -> Response:
        spec = (await body_of(request)).get("spec")
        await to_thread.run_sync(offer.answers.agent, spec)
        return JSONResponse({"spec": spec})

    async def studied(_request: Request) -> Response:
        return JSONResponse({"games": offer.games})

    async def watched(_request: Request) -> Response:
        game = await to_thread.run_sync(game_in, offer.watched) if offer.watched else None
        return JSONResponse({"game": game})

    async def keep(request: Request) -> Response:
        game, name = await body_of(request), request.path_params["name"]
        if offer.folder is not None:
            await to_thread.run_sync(offer.folder.keep, name, game)
        return JSONResponse({"kept": offer.folder is not None})

    lobby = Lobby(offer.answers, offer.folder.path / "tables" if offer.folder else None)

    async def open_table(request: Request) -> Response:
        return JSONResponse({"links": await lobby.open(await body_of(request, MOST_CHARACTERS))})

    routes: tuple[tuple[str, str, Handler], ...] = (
        ("POST", "/api/ask", ask),
        ("POST", "/api/check", check),
        ("GET", "/api/studied", studied),
        ("GET", "/api/watched", watched),
        ("POST", "/api/games/{name}", keep),
        ("POST", "/api/tables", open_table),
        ("GET", "/{path:path}", file),
    )
    return Starlette(
        routes=[
            WebSocketRoute("/api/seat", lobby.attend),
            *(Route(path, handler, methods=[method]) for method, path, handler in routes),
        ],
        middleware=[Middleware(Guard, hosts=offer.hosts)],
        exception_handlers={FiveUpError: _refused, 404: _nothing_here, 405: _nothing_here},
    )


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, FiveUpError)
    return refusal(error)


async def _nothing_here(request: Request, _error: Exception) -> Response:
    what = f"{request.method} {request.url.path}"
    return refusal(RequestError(f"there is nothing for {shown(what, str)}", 404))
