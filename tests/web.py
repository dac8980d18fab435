"""What the tests of the table share: a client of its server, without a network or a browser."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the table needs the extra: pip install 'fiveup-env[web]'")
httpx = pytest.importorskip("httpx", reason="the client needs httpx: pip install httpx")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.from_thread import BlockingPortal

    from fiveup_env.files import Json
    from fiveup_env.play.house import House

QUICK = "pimc:worlds=8,playout=greedy"  # a reference that takes no time
BASE = "http://127.0.0.1:8561"


class Client:
    """A visitor, whose cookie is kept; every answer is noted in `heard`."""

    def __init__(self, portal: BlockingPortal, app: Any) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        self._client = httpx.AsyncClient(transport=transport, base_url=BASE)
        self._portal = portal
        self.heard: list[str] = []

    def request(self, method: str, path: str, **options: Any) -> Any:
        """The answer to a request."""
        answer = self._portal.call(lambda: self._client.request(method, path, **options))
        self.heard.append(answer.text)
        return answer

    def get(self, path: str, **options: Any) -> Any:
        """The answer to a GET."""
        return self.request("GET", path, **options)

    def post(self, path: str, body: Json | None = None, **options: Any) -> Any:
        """The answer to a POST of JSON."""
        return self.request("POST", path, json=body or {}, **options)

    def sit_down(self, **choices: Any) -> Json:
        """The state of a new table."""
        answer = self.post("/api/tables", choices)
        assert answer.status_code == 201, answer.text
        state: Json = answer.json()
        return state

    def move(self, state: Json, move: str) -> Any:
        """The answer to a move at a table as it was last seen."""
        body = {"move": move, "version": state["version"]}
        return self.post(f"/api/tables/{state['table']}/move", body)


@contextmanager
def visitors(house: House | None = None) -> Iterator[Any]:
    """A function that brings in a new visitor of one server."""
    from anyio.from_thread import start_blocking_portal

    from fiveup_env.play.house import House
    from fiveup_env.play.server import app_of

    app = app_of(house or House(reference=QUICK, advisers=(QUICK,)))
    with start_blocking_portal() as portal:
        yield lambda: Client(portal, app)
