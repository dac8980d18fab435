"""What the tests of the table share: a client of its server without a network, and Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.from_thread import BlockingPortal

    from fiveup_env.files import Json
    from fiveup_env.play.server import Offer

BASE: Final = "http://127.0.0.1:8561"
# Secrets, and with them the tiles of new games, are the same in every run.
SECRETS: Final = """
  const random = crypto.getRandomValues.bind(crypto);
  let next = 1;
  crypto.getRandomValues = (into) => into instanceof Uint8Array ? into.fill(next++) : random(into);
"""
CHROMIUM: Final = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)

AXE: Final = os.environ.get("FIVEUP_AXE")
SIZES: Final = {
    "laptop": (1366, 768),
    "wide and low": (1536, 730),
    "tablet": (1024, 768),
    "phone": (390, 844),
    "phone on its side": (844, 390),
    "zoomed to 200 %": (683, 384),
}


class Client:
    """A client of an application."""

    def __init__(self, portal: BlockingPortal, app: Any) -> None:
        import httpx

        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        self._client = httpx.AsyncClient(transport=transport, base_url=BASE)
        self._portal = portal

    def request(self, method: str, path: str, **options: Any) -> Any:
        """The answer to a request."""
        return self._portal.call(lambda: self._client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> Any:
        """The answer to a GET."""
        return self.request("GET", path, **options)

    def post(self, path: str, body: Json | None = None, **options: Any) -> Any:
        """The answer to a POST of JSON."""
        return self.request("POST", path, json=body or {}, **options)


@contextmanager
def client_of(offer: Offer | None = None) -> Iterator[Client]:
    """A client of a server that offers something."""
    pytest.importorskip("starlette", reason="the server of the page (no Starlette)")
    pytest.importorskip("httpx", reason="the server of the page (no HTTPX)")
    from anyio.from_thread import start_blocking_portal

    from fiveup_env.play.server import Offer, app_of

    with start_blocking_portal() as portal:
        yield Client(portal, app_of(offer or Offer()))


class _Quiet(SimpleHTTPRequestHandler):
    """A file server that says nothing, and knows modules."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, *_given: object) -> None:
        """Say nothing."""


@contextmanager
def folder_server(folder: Path) -> Iterator[str]:
    """The address of a plain file server of a folder."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@contextmanager
def served(offer: Offer | None = None) -> Iterator[str]:
    """The address of a server that offers something, in a thread of its own."""
    pytest.importorskip("websockets", reason="tables by links (no websockets)")
    from fiveup_env.play.launch import config_of
    from fiveup_env.play.server import Offer, app_of

    with answering(config_of(app_of(offer or Offer()))) as address:
        yield address


@contextmanager
def answering(config: Any) -> Iterator[str]:
    """The address of a server of Uvicorn with this configuration, in a thread of its own."""
    import uvicorn

    from fiveup_env.play.launch import free_socket

    with free_socket("127.0.0.1", 0) as bound:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def table_process(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A table in a process of its own, which is killed at the end, and its port."""
    line = [sys.executable, "-m", "fiveup_env", "play", "--no-browser", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().split()[4]
            yield process, address.rpartition(":")[2].rstrip("/")
        finally:
            process.kill()


def check_access(page: Any) -> None:
    """Let axe look at what a page shows, where it is installed."""
    if AXE:
        page.evaluate(Path(AXE).read_text())
        assert not page.evaluate("axe.run().then((run) => run.violations.map(({ id }) => id))")


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium from the system's packages; without it, or Playwright, the test is skipped."""
    pytest.importorskip("playwright", reason="the page (no Playwright)")
    if not CHROMIUM:
        pytest.skip("the page (no Chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def visitor(browser: Any, size: str = "laptop", **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page of a new visitor, who wants no pauses and speaks English, and its complaints.

    Its service worker, which loads everything once more, is blocked unless it is allowed.
    """
    width, height = SIZES[size]
    options = {"locale": "en-US", "service_workers": "block"} | options
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.add_init_script("localStorage.setItem('fiveup:pace', '0')" + SECRETS)
    page = context.new_page()
    yield page, listen(page)
    context.close()


def listen(page: Any) -> list[str]:
    """What a page complains of, and every request that leaves its host."""
    complaints: list[str] = []

    def log(message: Any) -> None:
        if message.type == "error":
            complaints.append(message.text)

    def request(request: Any) -> None:
        if not re.match("(http://127.0.0.1|blob:|data:)", request.url):
            complaints.append(request.url)

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", log)
    page.on("request", request)
    return complaints
