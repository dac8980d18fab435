"""The server of the table: its pages, and who answers which request.

Every answer of the API is JSON. What takes long runs in threads, so that no table waits for
another; eyes and studies have threads of their own, so that no table waits for them either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from fiveup_env.errors import FiveUpError, RequestError, shown
from fiveup_env.play.frames import tile_symbols
from fiveup_env.play.guard import COOKIE, Guard, refusal
from fiveup_env.play.studies import Studies
from fiveup_env.play.study import asset, study_page
from fiveup_env.play.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from fiveup_env.play.house import House, Visitor

    Answer = Callable[[Request], Awaitable[Response]]
    Handler = Callable[[Visitor, Request], Awaitable[Response]]

ASSETS: Final = {
    "style.css": "text/css",
    "page.js": "text/javascript",
    "server.js": "text/javascript",
    "table.js": "text/javascript",
    "study.js": "text/javascript",
    "open.js": "text/javascript",
}


def app_of(house: House) -> Starlette:
    """Return the application that serves a house."""
    tables, studies = Tables(house), Studies(house)
    api: tuple[tuple[str, str, Handler], ...] = (
        ("GET", "/choices", tables.choices),
        ("GET", "/tables", tables.latest),
        ("POST", "/tables", tables.sit_down),
        ("GET", "/tables/{name}", tables.look),
        ("POST", "/tables/{name}/move", tables.move),
        ("POST", "/tables/{name}/undo", tables.undo),
        ("POST", "/tables/{name}/again", tables.again),
        ("POST", "/tables/{name}/eyes", tables.eyes),
        ("POST", "/tables/{name}/study", studies.study_table),
        ("POST", "/studies", studies.study),
        ("GET", "/studies/{name}", studies.about),
        ("GET", "/studies/{name}/verdicts", studies.verdicts),
        ("GET", "/studies/{name}/study.html", studies.export_html),
        ("GET", "/studies/{name}/study.json", studies.export_json),
        ("POST", "/studies/{name}/table", studies.play_from_here),
    )
    return Starlette(
        routes=[
            Route("/", _table_page),
            Route("/study", _study_page),
            Route("/assets/{name}", _asset),
            *(
                Route(f"/api{path}", _answering(house, handler), methods=[method])
                for method, path, handler in api
            ),
        ],
        middleware=[Middleware(Guard, hosts=house.hosts)],
        exception_handlers={404: _nothing_here, 405: _nothing_here},
    )


def _answering(house: House, handler: Handler) -> Answer:
    """Return a handler that knows its visitor, and refuses in a sentence."""

    async def answer(request: Request) -> Response:
        given = None
        try:
            visitor, given = house.visitor(request.cookies.get(COOKIE))
            response = await handler(visitor, request)
        except FiveUpError as error:
            response = refusal(error)
        if given is not None:
            response.set_cookie(COOKIE, given, httponly=True, samesite="strict")
        return response

    return answer


async def _table_page(_request: Request) -> Response:
    return HTMLResponse(asset("index.html").replace("<!-- symbols -->", tile_symbols()))


async def _study_page(_request: Request) -> Response:
    style = '<link rel="stylesheet" href="/assets/style.css">'
    names = ("page.js", "study.js", "server.js", "open.js")
    script = "\n".join(f'<script src="/assets/{name}"></script>' for name in names)
    return HTMLResponse(study_page(style, script))


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return await _nothing_here(request)
    return Response(asset(name), media_type=ASSETS[name])


async def _nothing_here(request: Request, _error: Exception | None = None) -> Response:
    what = f"{request.method} {request.url.path}"
    return refusal(RequestError(f"there is nothing for {shown(what, str)}", 404))
