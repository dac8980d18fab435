"""A free port, the server, and the browser that is opened on it."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import InputError, MissingExtraError

try:
    import uvicorn

    from fiveup_env.play.guard import Hosts
    from fiveup_env.play.lobby import MOST_CHARACTERS
    from fiveup_env.play.server import Offer, app_of
except ImportError as error:
    raise MissingExtraError(
        "the table needs Starlette: pip install 'fiveup-env[web]'", error
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from starlette.applications import Starlette

__all__ = ["Offer", "free_socket", "serve"]

PORT: Final = 8561
MORE_PORTS: Final = 50  # tried one after the other
PING: Final = 5.0  # seconds between two questions whether a browser is there; it has twice as many


def free_socket(host: str, port: int | None, say: Callable[[str], None] = print) -> socket.socket:
    """Return a socket bound to a port: the one asked for, or the first free one from PORT on."""
    if port is not None:
        return _bound(host, port)
    for number in range(PORT, PORT + MORE_PORTS):
        try:
            bound = _bound(host, number)
        except InputError:
            continue
        if number != PORT:
            say(f"port {PORT} is in use; this table takes {number}")
        return bound
    raise InputError(f"the ports from {PORT} to {PORT + MORE_PORTS - 1} are all in use")


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise InputError(f"a port is a number from 0 to {(1 << 16) - 1}, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio does not let answers wait for acknowledgements (40 ms).
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # there, it would let two tables share a port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()  # so that a browser that is early waits
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} is in use; name another, or none") from None
        raise InputError(f"cannot listen on {host}, port {port}: {error}") from None
    return bound


def config_of(app: Starlette) -> uvicorn.Config:
    """Return how the page and its tables are served."""
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws_max_size=4 * MOST_CHARACTERS,
        ws_ping_interval=PING,
        ws_ping_timeout=2 * PING,
    )


def serve(
    offer: Offer, *, host: str, port: int | None, browser: bool, public: str | None = None
) -> None:
    """Serve the page until Ctrl-C; `public` is the name by which a proxy leads to it."""
    bound = free_socket(host, port)
    address, port = bound.getsockname()[:2]
    offer.hosts = Hosts.at(host, address, public)
    name = f"[{host}]" if ":" in host else host
    url = f"http://{name}:{port}/"
    config = config_of(app_of(offer))
    logging.basicConfig(format="%(levelname)s: %(message)s")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    # In a thread, since a signal may come meanwhile, and a thread cannot print while it prints.
    line = f"the table is at {url}  (Ctrl-C ends it)"
    said = threading.Thread(target=print, args=(line,), kwargs={"flush": True})
    said.start()
    said.join()
    if browser:
        threading.Timer(0.5, webbrowser.open, [url]).start()
    _Server(config).run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server that waits for nobody when it is told to end."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the process."""
        _end(sig, frame)


def _end(_signal: int, _frame: FrameType | None) -> None:
    """End the process at once.

    Threads may be in compiled code that cannot be interrupted, and there is nothing to wait for:
    games are kept move by move, each file at once.
    """
    try:
        print("the table is closed", flush=True)  # noqa: T201
    finally:  # even if nobody reads it
        os._exit(0)
