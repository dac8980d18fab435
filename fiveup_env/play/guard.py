"""What every request must be, and what every answer carries.

The server is for one machine. A page of another site can send requests to it from the browser of
whoever runs it, so the Host and the Origin of a request must be ours, and posts must be JSON. The
name of that site may even lead here (DNS rebinding), so only the names of `Hosts` will do.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from fiveup_env.errors import AgentError, FiveUpError, RequestError, WrongMomentError, shown
from fiveup_env.play.folder import MOST_BYTES
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
HOST: Final = re.compile(r"(\[[^]]*\]|[^:]+)(:\d*)?")  # the port is left out if it is the usual one
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
        "style-src 'self'; connect-src 'self'; img-src 'self' data:; media-src blob:; "
        "manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Hosts:
    """The hosts that a server answers for."""

    names: frozenset[str] = LOOPBACK
    any_address: bool = False  # whether any IP address will do: only names can be rebound

    @classmethod
    def at(cls, host: str, address: str, public: str | None = None) -> Hosts:
        """Return the hosts of a server.

        Args:
            host: Where it was told to listen.
            address: Where it listens.
            public: The name by which a proxy leads to it.
        """
        if public is not None:
            others = cls.at(host, address)
            return cls(others.names | {public.lower()}, others.any_address)
        if ip_address(address).is_unspecified:  # then it listens on all addresses of this machine
            name = socket.gethostname().lower()
            return cls(LOOPBACK | {name, f"{name}.local"}, any_address=True)
        return cls(LOOPBACK | {_in_url(host.lower()), _in_url(address)})

    def __contains__(self, header: str) -> bool:
        """Return whether a Host header is one of these."""
        parts = HOST.fullmatch(header.lower())
        name = parts[1] if parts else ""
        return name in self.names or (self.any_address and _is_address(name))


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(name: str) -> bool:
    try:
        return _in_url(str(ip_address(name.removeprefix("[").removesuffix("]")))) == name
    except ValueError:
        return False


class Guard:
    """Refuses requests that are not from our own page, and adds the headers of every answer."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        """Allow requests for these hosts."""
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            self._check(scope.get("method", "WEBSOCKET"), Headers(scope=scope))
        except RequestError as error:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": str(error)})
            else:
                await refusal(error)(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    def _check(self, method: str, headers: Headers) -> None:
        host = headers.get("host", "")
        if host not in self._hosts:
            raise RequestError(f"this server does not answer for the host {shown(host)}", 421)
        if method not in {"GET", "HEAD"}:
            origin = headers.get("origin")
            if origin not in {None, f"http://{host}", f"https://{host}"}:
                raise RequestError(f"posts from {shown(origin)} are refused", 403)
            if method == "WEBSOCKET":
                return
            if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
                raise RequestError("posts from other sites are refused", 403)
            if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise RequestError("a post must be application/json", 415)


async def body_of(request: Request, most: int = MOST_BYTES) -> dict[str, Any]:
    """Return the JSON object that a request holds in at most `most` bytes."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > most:
            raise RequestError(f"this request may hold {most:,} bytes, and it has more", 413)
    return object_in(content or b"{}", "a request")


def object_in(text: str | bytes, name: str) -> dict[str, Any]:
    """Return the JSON object in a text from elsewhere, which errors call by a name."""
    try:
        content = parse_json(text)
    except ValueError as error:
        raise RequestError(f"not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise RequestError(f"{name} is a JSON object, not {shown(content)}")
    return content


def refusal(error: FiveUpError) -> JSONResponse:
    """Return the answer to a request that was refused: a sentence, and the status that fits."""
    status = 422
    if isinstance(error, RequestError):
        status = error.status
    elif isinstance(error, WrongMomentError):
        status = 409
    elif isinstance(error, AgentError):
        status = 400
    return JSONResponse({"error": str(error)}, status)
